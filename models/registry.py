"""Load a model by its name: an id of the catalogue, a folder, or org/name on the Hugging Face hub."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from models import fetch
from models.cards import (
    MINI_BERT,
    MINI_BERT_ZH,
    MINI_GPT,
    MINILM,
    MINILM_OWN,
    SMOLLM2,
    SMOLLM2_OWN,
    TRANSLATOR,
    UNTRAINED,
)
from models.loaded import Card, LoadedModel, Shape
from models.placement import CPU_FLOAT32, DtypeName, Placement
from models.transformer.config import TransformerConfig
from models.transformer.sizes import check_size
from models.transformer.switches import check_names, id_of, parse, takes_statistics, under_switches

# torch and transformers take seconds to import: they come with the first model, so that the page is drawn before.
if TYPE_CHECKING:
    import torch
    from torch import nn

    from models.huggingface.runner import PretrainedRunner
    from models.transformer.variants import Network
    from models.untrusted.candidates import Candidate

_WEIGHTS_OF = {  # what `models.fetch` brings for each model that is not whole without it
    **{card.id: MINILM.id for card in (MINILM, MINILM_OWN, *UNTRAINED.values())},  # the untrained have its tokenizer
    **{card.id: SMOLLM2.id for card in (SMOLLM2, SMOLLM2_OWN)},
}
CONFIGURED = "configured"  # the id of a model that was made from a TransformerConfig


def load(
    id: str | os.PathLike[str] | TransformerConfig,
    *,
    tokenizer: Any = None,
    seed: int = 0,
    batch: Sequence[str] = (),
    dtype: DtypeName | torch.dtype = "float32",
    device: str = "cpu",
    max_memory: Mapping[int | str, int | str] | None = None,
) -> LoadedModel:
    """Load a model of the catalogue by its id, a transformers model from a local folder, a model of the Hugging Face
    hub by "org/name" or "org/name@revision", or an untrained Transformer by its configuration.

    A name may be followed by switches: "mini-bert?scale=none&heads=3" is a `variant` of "mini-bert". batch: the texts
    of a variant with a new BatchNorm.
    tokenizer, seed: of a configuration; the untrained models' tokenizer where none is given, and what draws weights.
    dtype: "float32", "bfloat16", "float16" or torch's own, or "auto", as the weights are stored. device: "cpu", "cuda",
    "cuda:1", "mps", or "auto": a transformers model is spread over all devices, within max_memory (see
    `models.placement.Placement`); SmolLM2 and a model of this project, which are small, go to the first accelerator,
    else to the CPU.

    Raises ValueError for a name without a model, a model that cannot be loaded safely, a missing package, a device
    that this machine lacks, switches that do not fit, or a tokenizer whose vocabulary is not the configuration's.
    """
    placement = Placement(cast(DtypeName, str(dtype).removeprefix("torch.")), device, max_memory)
    if isinstance(id, TransformerConfig):
        return _load_config(id, placement, tokenizer=tokenizer, seed=seed)
    if not isinstance(id, str | os.PathLike):
        raise ValueError(
            f"load takes a name, a folder or a TransformerConfig, not a {type(id).__name__}: save a model of "
            "transformers and its tokenizer with save_pretrained, and load that folder, or give the model to models.of"
        )
    if tokenizer is not None or seed:
        raise ValueError(f"tokenizer and seed go with a TransformerConfig; {os.fspath(id)[:100]!a} has its own")
    name = os.fspath(id)
    if "?" in name and not _is_folder(name):
        base, switches, drawn = parse(name)
        loaded = load(base, dtype=dtype, device=device, max_memory=max_memory)
        return variant(loaded, seed=drawn, batch=batch, **switches)
    if batch:
        raise ValueError(f"batch goes with switches that make a BatchNorm; {name[:100]!a} has none")
    loaders: dict[str, Callable[[Placement], LoadedModel]] = {
        MINILM.id: _load_minilm,
        MINILM_OWN.id: _load_minilm_own,
        SMOLLM2.id: _load_smollm2,
        SMOLLM2_OWN.id: _load_smollm2_own,
        TRANSLATOR.id: partial(load_checkpoint, card=TRANSLATOR, beams=4),
        **{card.id: partial(load_checkpoint, card=card) for card in (MINI_BERT, MINI_BERT_ZH, MINI_GPT)},
    }
    loaders |= {card.id: partial(_load_untrained, shape=shape) for shape, card in UNTRAINED.items()}
    if name in loaders:
        return loaders[name](placement)
    if _is_folder(name):
        return _load_folder(Path(name).expanduser().resolve(), placement)
    if name.count("/") == 1 and not name.startswith((".", "/", "~")):
        return _load_hub(name, placement)
    raise ValueError(unknown_model(name, known=list(loaders)))


def load_tokenizer(id: str) -> Any:
    """Load the tokenizer of a model of the catalogue without its weights.

    Raises ValueError for another id, and where the model's files are missing or damaged.
    """
    from models.checkpoints import FOLDER
    from models.checkpoints.store import read_tokenizer
    from models.smollm2.network import load_tokenizer as of_smollm2

    of_checkpoints = (TRANSLATOR, MINI_BERT, MINI_BERT_ZH, MINI_GPT)
    loaders: dict[str, Callable[[], Any]] = {
        **{card.id: partial(read_tokenizer, FOLDER / card.id) for card in of_checkpoints},
        **{card.id: _minilm_tokenizer for card in (MINILM, MINILM_OWN)},
        **{card.id: _tokenizer_of_untrained for card in UNTRAINED.values()},
        **{card.id: of_smollm2 for card in (SMOLLM2, SMOLLM2_OWN)},
    }
    if id not in loaders:
        raise ValueError(unknown_model(id, known=list(loaders)))
    return loaders[id]()


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
    ends = loaded.runner.ends if loaded.runner.writes else frozenset[int]()
    return own_model(card, network, loaded.tokenizer, max_tokens=loaded.max_tokens, ends=ends)


def variant(loaded: LoadedModel, *, seed: int = 0, batch: Sequence[str] = (), **switches: Any) -> LoadedModel:
    """Put a model's weights under changed switches, the fields of `TransformerConfig`: variant(loaded, scale="none").

    Parameters that fit keep their weights, new parameters are drawn from the seed (see
    `models.transformer.variants.under`); the card says which share was drawn. A model of transformers is put into the
    own Transformer first. batch: texts whose tokens give a new BatchNorm its statistics, in one pass; an
    encoder-decoder reads them beside what it makes of each itself.

    Raises ValueError for what is no switch, switches that do not fit each other, a Transformer that is too large (see
    `models.transformer.sizes`), or a BatchNorm without a batch.
    """
    from models.transformer.runner import OwnRunner
    from models.transformer.variants import take_statistics, under

    if loaded.card.redrawn is not None:
        raise ValueError(f"{loaded.card.id} is a variant itself: take the variant of the model, with all its switches")
    check_names(switches)
    base = loaded if isinstance(loaded.runner, OwnRunner) else own_implementation(loaded)
    assert isinstance(base.runner, OwnRunner)
    config, changed = under_switches(base.config, switches)
    new_statistics = takes_statistics(changed)
    if new_statistics and not batch:
        raise ValueError(f"norm {config.norm!r} takes its statistics from texts: pass them as `batch`")
    network, redrawn = under(base.runner.whole, config, seed=seed)
    id = id_of(loaded.card.id, changed, seed=seed if redrawn else 0)
    summary = (
        f"{loaded.card.title}, in this project's own Transformer with "
        f"{', '.join(f'{name} {value}' for name, value in changed.items()) or 'no switch changed'}: "
        f"{100 * redrawn:.1f} % of the weights are drawn anew."
    )
    card = replace(loaded.card, id=id, title=f"{loaded.card.title}, a variant", summary=summary, redrawn=redrawn)
    longest = min(base.max_tokens, config.max_positions)
    made = own_model(card, network, base.tokenizer, max_tokens=longest, beams=base.runner.beams, ends=base.runner.ends)
    if new_statistics:
        take_statistics(network, lambda: _read_batch(made, batch, written_by=base))
    return made


def _read_batch(loaded: LoadedModel, batch: Sequence[str], *, written_by: LoadedModel) -> None:
    """Run texts at once, padded; an encoder-decoder reads beside each what `written_by` makes of it."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    from models.placement import input_device

    def padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
        return pad_sequence([torch.tensor(row) for row in rows], batch_first=True)

    def real(rows: Sequence[Sequence[int]]) -> torch.Tensor:
        return padded([[1] * len(row) for row in rows]).bool()

    encodings = [loaded.encode(text) for text in batch]
    sources = [encoding.ids for encoding in encodings]
    if loaded.run_pair is None:
        loaded.run(padded(sources), real(sources), padded([encoding.segments for encoding in encodings]))
        return
    targets = [written_by.generate_ids(source, new_tokens=2 * len(source)) for source in encodings]
    source, target = (padded(rows).to(input_device(loaded.network)) for rows in (sources, targets))
    loaded.network(source, target, source_keep=real(sources), target_keep=real(targets))


def is_installed(id: str) -> bool:
    """Return False for a model of the catalogue whose weights or tokenizer were not fetched; nothing is loaded."""
    needed = _WEIGHTS_OF.get(id.partition("?")[0])
    return needed is None or fetch.is_here(needed)


def default_id() -> str:
    """Name the model that is taken where none is chosen: MiniLM, or mini-BERT for as long as MiniLM was not fetched."""
    return MINILM.id if is_installed(MINILM.id) else MINI_BERT.id


def default_note() -> str:
    """Say which model is taken by default in place of MiniLM, and what fetches that; "" where MiniLM is here."""
    return "" if default_id() == MINILM.id else f"{fetch.missing(MINILM.id)} Until then {MINI_BERT.id} is the default."


def unknown_model(name: str, *, known: Sequence[str]) -> str:
    """Say that an id names no model, and what to choose instead."""
    close = get_close_matches(name[:100].casefold(), known, n=1)
    meant = f" Did you mean {close[0]}?" if close else ""
    return (
        f"There is no model {name[:100]!a}.{meant} Choose one of {', '.join(known)}, "
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
    return watched_model(card, runner)


def watched_model(card: Card, runner: PretrainedRunner) -> LoadedModel:
    """Make a model that transformers runs ready to be inspected."""
    from models.config_facts import attention_count

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
    return replace(_load_folder(fetch.folder(MINILM.id), placement), card=MINILM)


def _load_minilm_own(placement: Placement) -> LoadedModel:
    loaded = replace(own_implementation(_load_minilm(CPU_FLOAT32)), card=MINILM_OWN)
    _place(loaded.network, placement)
    return loaded


def _load_smollm2(placement: Placement) -> LoadedModel:
    from models.smollm2.network import load_runner

    _check_one_device(placement)
    return watched_model(SMOLLM2, load_runner(placement))


def _load_smollm2_own(placement: Placement) -> LoadedModel:
    loaded = replace(own_implementation(_load_smollm2(CPU_FLOAT32)), card=SMOLLM2_OWN)
    _place(loaded.network, placement)
    return loaded


def _load_untrained(placement: Placement, *, shape: Shape) -> LoadedModel:
    from models.transformer.untrained import config

    tokenizer = _tokenizer_of_untrained()
    loaded = _load_config(config(shape, vocabulary=len(tokenizer)), placement, tokenizer=tokenizer, seed=0)
    return replace(loaded, card=UNTRAINED[shape])


def _load_config(config: TransformerConfig, placement: Placement, *, tokenizer: Any, seed: int) -> LoadedModel:
    from models.transformer.untrained import network

    tokenizer = _tokenizer_of_untrained() if tokenizer is None else tokenizer
    sides = sorted({config.vocabulary, config.decoder_vocabulary})
    if sides != [len(tokenizer)]:
        raise ValueError(
            f"the tokenizer has {len(tokenizer):,} tokens and the configuration "
            f"{' and '.join(f'{side:,}' for side in sides)}; make the vocabulary as large, or pass its tokenizer"
        )
    check_size(config)
    built = network(config, seed=seed)
    _place(built, placement)
    card = Card(
        id=CONFIGURED,
        title=f"Untrained {config.shape}",
        summary=f"This project's own Transformer ({config.layers} layers, {config.heads} heads, width {config.width}) "
        f"with random weights of seed {seed}: untrained.",
        licence="MIT",
        shape=config.shape,
        trained=False,
    )
    return own_model(card, built, tokenizer, max_tokens=config.max_positions)


def _minilm_tokenizer() -> Any:
    from models.untrusted.tokenizer import load_tokenizer

    return load_tokenizer(fetch.folder(MINILM.id))


def _tokenizer_of_untrained() -> Any:
    if not is_installed(MINILM.id):
        raise ValueError(f"The untrained models read with MiniLM's tokenizer. {fetch.missing(MINILM.id)}")
    return _minilm_tokenizer()


def own_model(
    card: Card,
    network: Network,
    tokenizer: Any,
    *,
    max_tokens: int,
    beams: int = 1,
    ends: frozenset[int] = frozenset(),
) -> LoadedModel:
    """Make one of the project's networks ready to be inspected.

    beams: how many an encoder-decoder writes with. ends: the tokens that end a text; none for the tokenizer's [SEP].
    """
    from models.attention import running_layer
    from models.transformer.runner import OwnRunner

    runner, config = OwnRunner.of(network, tokenizer, beams=beams, ends=ends), network.config
    running_layer.install(runner.network)
    return LoadedModel(
        card, runner.network, config, tokenizer, runner, layers=config.attention_count, max_tokens=max_tokens
    )


def _place(network: nn.Module, placement: Placement, *, stored: torch.dtype | None = None) -> None:
    """Move one of the project's networks to its device; such a network is never spread."""
    _check_one_device(placement)
    network.to(placement.torch_device(), placement.torch_dtype(stored))


def _check_one_device(placement: Placement) -> None:
    if placement.max_memory is not None:
        raise ValueError("max_memory spreads a model of transformers; this one is small and goes to one device")


def load_checkpoint(placement: Placement, *, card: Card, beams: int = 1) -> LoadedModel:
    """Load a model that models/train.py trained, from checkpoints/ID/."""
    from models.checkpoints import FOLDER
    from models.checkpoints.store import STORED, read_checkpoint

    checkpoint = read_checkpoint(FOLDER / card.id)
    _place(checkpoint.network, placement, stored=STORED)
    return own_model(
        card, checkpoint.network, checkpoint.tokenizer, max_tokens=checkpoint.config.max_positions, beams=beams
    )
