"""A replay: the attention of three fixed sentences and the size of every matrix, at 12 moments of a training."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn

from models.attention import AttentionCall, watch
from models.files import read_tensors, write_tensors
from models.training import replay_file
from models.training.objectives import Predictor
from models.training.repeats import induction_scores
from models.training.tasks import Task
from models.transformer import Decoder, EncoderDecoder, shift_right
from models.transformer.masked_lm import MaskedLanguageModel

FOLDER, FILE = "replay", replay_file.FILE
# The moments as shares of the steps, close together at first because heads form early.
SHARES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.65, 1.0)
SENTENCES = {
    "translator": (
        ("The cat is sleeping on the bed.", "猫在床上睡觉。"),
        ("I bought a red book yesterday.", "我昨天买了一本红色的书。"),
        ("She doesn't drink coffee because it is bitter.", "她不喝咖啡，因为咖啡很苦。"),
    ),
    "mini-bert": (
        ("The cat sat on the mat because it was tired.", ""),
        ("She opened the door and looked at the old man.", ""),
        ("He said that he would never go back to London again.", ""),
    ),
    "mini-bert-zh": (("我昨天买了一本新书。", ""), ("猫在桌子下面睡觉。", ""), ("他说他明天不会来学校。", "")),
    "mini-gpt": (
        ("The cat sat on the mat because it was tired.", ""),
        ("She opened the door and looked at the old man.", ""),
        ("Mr. Darling said that Mr. Darling would never go back to London.", ""),
    ),
    "toy": (("a b c d", "d c b a"), ("e f g h i j", "j i h g f e"), ("a j a", "a j a")),
}


def moments(steps: int) -> tuple[int, ...]:
    """Return the steps at which the replay is recorded, from 0 to the last step."""
    return tuple(sorted({round(share * steps) for share in SHARES}))


def record(out: Path, network: nn.Module, task: Task, *, step: int) -> None:
    """Write one moment; a yardstick has no seam to watch, so its moments hold norms alone.

    Tensors: "norm.NAME" the L2 norm of a matrix; "S.STREAM.LAYER" the weights [H, Q, T] of sentence S in float16; of a
    decoder "induction.LAYER" the heads' scores on random repeats [H].
    """
    tensors = {
        f"norm.{name}": parameter.detach().float().norm()
        for name, parameter in network.named_parameters()
        if parameter.ndim > 1
    }
    if isinstance(network, Decoder):
        scores = induction_scores(network, vocabulary=task.vocabulary.size, start=task.vocabulary.start)
        tensors |= {f"{replay_file.INDUCTION}{layer}": row for layer, row in enumerate(scores)}
    if isinstance(network, EncoderDecoder | MaskedLanguageModel | Decoder):
        for number, (source, target) in enumerate(SENTENCES[task.recipe.name]):
            tensors |= {f"{number}.{name}": seen for name, seen in attention(network, task, source, target)}
    write_tensors(out / FOLDER / f"{step:07d}.safetensors", tensors)


def cut(out: Path, step: int) -> None:
    """Delete the moments after `step`, which a resumed training records again."""
    for path in (out / FOLDER).glob("*.safetensors"):
        if int(path.stem) > step:
            path.unlink()


@torch.inference_mode()
def attention(network: nn.Module, task: Task, source: str, target: str) -> list[tuple[str, Tensor]]:
    """Return ("STREAM.LAYER", weights [H, Q, T] in float16) for every attention call, in call order."""
    calls: list[AttentionCall] = []
    device, training = next(network.parameters()).device, network.training
    ids = torch.tensor([task.tokenizer.encode(source).ids], device=device)
    network.eval()
    with watch(calls.append):
        if isinstance(network, EncoderDecoder):
            written = torch.tensor([task.tokenizer.encode(target).ids[1:]], device=device)
            network(ids, shift_right(written, start=task.vocabulary.start))
        else:
            cast(Predictor, network)(ids)
    network.train(training)
    layers: Counter[str] = Counter()
    maps = []
    for call in calls:
        maps.append((f"{call.stream}.{layers[call.stream]}", weights(call)[0].half()))
        layers[call.stream] += 1
    return maps


def _nearest_planned(moments_: list[Path]) -> list[Path]:
    """Leave out moments of a changed plan: keep the moments nearest to `moments` of the steps that were made."""
    steps = {int(path.stem): path for path in moments_}
    return [steps[step] for step in sorted({min(steps, key=lambda at: abs(at - due)) for due in moments(max(steps))})]


def weights(call: AttentionCall) -> Tensor:
    """Compute the weights [B, H, Q, T] of one attention call."""
    queries = call.query.shape[2]
    allowed = None if call.mask is None else call.mask.rows(0, queries).to(call.query.device)
    return call.function(call.query, call.key, call.value, allowed, rows=slice(0, queries))[1]


def pack(out: Path, task: Task, file: Path) -> None:
    """Write all moments of `out` into one file: tensors "STEP/NAME", sentences and their tokens in the header."""
    moments_ = _nearest_planned(sorted((out / FOLDER).glob("*.safetensors")))
    tensors = {
        f"{int(path.stem)}/{name}": tensor for path in moments_ for name, tensor in read_tensors(path)[0].items()
    }
    sentences = [
        {
            "source": source,
            "target": target,
            "source_tokens": task.tokenizer.encode(source).tokens,
            "target_tokens": task.tokenizer.encode(target).tokens if target else [],
        }
        for source, target in SENTENCES[task.recipe.name]
    ]
    about = {"steps": [int(path.stem) for path in moments_], "sentences": sentences}
    write_tensors(file, tensors, about=json.dumps(about, ensure_ascii=False))
