"""The end of a training: scores, replay, checkpoint and card."""

from __future__ import annotations

import copy
import csv
from collections.abc import Mapping
from io import StringIO
from math import exp
from pathlib import Path

import torch
from torch import nn

from models.checkpoints import CARD
from models.checkpoints.store import write_checkpoint
from models.files import write_bytes, write_text
from models.training import card, corpus, metrics, replay
from models.training.evaluation import bleu, has_judge, translate
from models.training.loop import Trained, evaluate
from models.training.tasks import Implementation, Task

CHECKPOINT = "checkpoint"
SCORES = "scores.csv"  # read again for the card of another training, which shows them beside its own
BEAMS = 4
CPU = torch.device("cpu")


def finish(
    task: Task,
    trained: Trained,
    out: Path,
    *,
    data: Path | None,
    implementation: Implementation,
    yardstick: Path | None = None,
) -> str:
    """Measure the network, write out/checkpoint/ (for a yardstick CARD.md alone), and return one line that says so.

    yardstick: the `out` of a finished yardstick, whose scores the card shows beside the model's.

    Raises ValueError where the yardstick's folder holds no scores.
    """
    beside = None if yardstick is None else read_scores(yardstick)
    network = trained.network.to(CPU).eval()
    folder = out / CHECKPOINT
    halved = _halved(network)
    measured = {
        "parameters": f"{sum(parameter.numel() for parameter in network.parameters()):,}",
        "training time": f"{trained.progress.seconds:,.0f} s",
        **_losses(task, network, "single"),
        **_losses(task, halved, "half"),
        **_translations(task, halved, data),
    }
    write_scores(out, measured)
    text = card.write(task, trained, out, data=data, implementation=implementation, scores=measured, beside=beside)
    write_text(folder / CARD, text)
    if implementation == "own":
        write_checkpoint(folder, network, task.tokenizer)
        write_bytes(folder / metrics.FILE, (out / metrics.FILE).read_bytes())
        replay.pack(out, task, folder / replay.FILE)
    return f"Done: {'; '.join(f'{what} {result}' for what, result in measured.items())}. See {folder / CARD}"


def _losses(task: Task, network: nn.Module, precision: str) -> dict[str, str]:
    """Measure perplexity and accuracy on the valid split; `precision` is the weights', the arithmetic is single."""
    value, accuracy = evaluate(network, task, device=CPU)
    where = f"valid, weights in {precision} precision"
    share = "masked top-1 accuracy" if task.recipe.objective == "mask" else "next-token accuracy"
    return {
        f"perplexity ({where})": f"{exp(value):.3f} (loss {value:.5f} nats a token)",
        f"{share} ({where})": f"{100 * accuracy:.2f} %",
    }


def _halved(network: nn.Module) -> nn.Module:
    rounded = copy.deepcopy(network)
    with torch.no_grad():
        for parameter in rounded.parameters():
            parameter.copy_(parameter.half().float())
    return rounded


def _translations(task: Task, network: nn.Module, data: Path | None) -> dict[str, str]:
    """Measure BLEU on valid and test, with greedy decoding and with beam search."""
    if task.recipe.name != "translator" or data is None:
        return {}
    if not has_judge():
        return {"BLEU": "not measured: sacreBLEU is not installed (pip install sacrebleu)"}
    results = {}
    for split in ("valid", "test"):
        pairs = corpus.read_pairs(data / corpus.PAIRS[split])
        for beams in (1, BEAMS):
            written = translate(
                network,
                [source for source, _ in pairs],
                tokenizer=task.tokenizer,
                vocabulary=task.vocabulary,
                beams=beams,
                longest=task.recipe.max_positions - 1,
            )
            how = "greedy" if beams == 1 else f"beam {beams}, length penalty 0.6"
            score = bleu(written, [target for _, target in pairs])
            results[f"sacreBLEU, tokenize zh, {split} ({how}; weights in half precision)"] = f"{score:.2f}"
    return results


def write_scores(out: Path, scores: Mapping[str, str]) -> None:
    """Write a row for each measured quantity: its name and the result."""
    with StringIO() as file:
        csv.writer(file, lineterminator="\n").writerows([("measured", "result"), *scores.items()])
        write_text(out / SCORES, file.getvalue())


def read_scores(out: Path) -> dict[str, str]:
    """Read the scores that `write_scores` wrote; raises ValueError where the file is missing."""
    path = out / SCORES
    if not path.is_file():
        raise ValueError(f"There is no file {path}: the training in {out} is not finished. Finish it with --resume.")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["measured"]: row["result"] for row in csv.DictReader(file)}
