"""A model that may be loaded: its files, configuration and size, known before any weight is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isqrt
from pathlib import Path

import torch

from models.formatting import format_bytes
from models.limits import Limits, needs_for_weights
from models.placement import CPU_FLOAT32, Placement, dtype_name
from models.untrusted.safe_config import SafeConfig
from models.untrusted.size import ModelSize

CONFIG, WEIGHTS, INDEX, ADAPTER = (
    "config.json",
    "model.safetensors",
    "model.safetensors.index.json",
    "adapter_config.json",
)
MOST_INDEX_BYTES = 50 * 2**20
_MOST_TOKENIZER_BYTES = 200 * 2**20  # the largest published ones have some 40 MB
_SETTINGS = ("generation_config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")

TOKENIZERS = (
    ("tokenizer.json",),
    ("vocab.txt",),
    ("vocab.json", "merges.txt"),
    ("vocab.json", "source.spm", "target.spm"),
    ("tokenizer.model",),
    ("spiece.model",),
    ("sentencepiece.bpe.model",),
    ("spm.model",),
)
"""The sets of files that a tokenizer can be read from, the best set first: each file is data, none is code."""

_PICKLED = re.compile(r".*\.(bin|pt|pth|pkl|ckpt|h5|msgpack|ot)")
_SHARD = re.compile(r"[\w-][\w.-]*\.safetensors", re.ASCII)


@dataclass(frozen=True)
class ModelFile:
    """A file of a model: its name in the folder and its bytes."""

    name: str
    size: int


@dataclass(frozen=True)
class Candidate:
    """A model that was inspected but not loaded.

    name: "org/name", or a folder's path. files: all files that loading would read, and no others. cached_bytes: how
    many bytes of these files are on this machine already. tokenizer: the file that the tokenizer is read from; None
    where the model has no tokenizer (no text can then be typed in). notes: sentences that the reader should know.
    revision, commit (models on the hub): the requested revision and the commit that it resolved to. folder (local
    models): the model's folder.
    """

    name: str
    files: tuple[ModelFile, ...]
    cached_bytes: int
    config: SafeConfig
    size: ModelSize
    tokenizer: str | None
    notes: tuple[str, ...] = ()
    revision: str | None = None
    commit: str | None = None
    folder: Path | None = None

    @property
    def bytes(self) -> int:
        """Total size of all files."""
        return sum(file.size for file in self.files)

    @property
    def download_bytes(self) -> int:
        """The bytes that are still to be downloaded."""
        return self.bytes - self.cached_bytes

    def memory_bytes(self, dtype: torch.dtype = torch.float32) -> int:
        """The memory of the weights, loaded in a dtype."""
        return self.size.memory_bytes(dtype)


def check(candidate: Candidate, limits: Limits, *, placement: Placement = CPU_FLOAT32) -> None:
    """Raise ValueError for a candidate over a limit, with both numbers and the variable that raises the limit."""
    dtype = placement.torch_dtype(candidate.config.dtype)
    needs = {
        "download_bytes": ("would download", candidate.download_bytes),
        "parameters": ("has parameters:", candidate.size.parameters),
        "layers": ("has attention layers:", candidate.size.layers),
        **needs_for_weights(dtype_name(dtype), candidate.memory_bytes(dtype)),
        "capture_bytes": ("needs memory to record one token:", candidate.size.capture_bytes(1)),
    }
    limits.check(candidate.name, needs)


def tokens_that_fit(candidate: Candidate, limits: Limits, *, maps: bool = False) -> int:
    """Return the number of tokens that may be recorded under the limits on tokens and on a recording's memory.

    maps: True where every map is kept too. With r numbers a token and h heads, the memory then allows the largest n
    with 4 (r n + h n^2) <= bytes.
    """
    size = candidate.size
    fits = limits.capture_bytes // size.capture_bytes(1)
    if maps and size.heads:  # a model without softmax attention has none whose maps would be kept
        discriminant = size.recorded**2 + size.heads * limits.capture_bytes
        fits = (isqrt(discriminant) - size.recorded) // (2 * size.heads)
    return min(limits.tokens, fits)


def choose_files(sizes: Mapping[str, int], shards: Iterable[str] = ()) -> tuple[ModelFile, ...]:
    """Choose the files of a folder to read: configuration, tokenizer, safetensors. Never code, never a pickle.

    shards: the weight files that the index names; used where the folder has an index instead of a single weight file.
    Raises ValueError for an adapter, a folder without config.json or safetensors, an index that names other files, and
    a tokenizer file that is larger than any published tokenizer.
    """
    if ADAPTER in sizes:
        raise ValueError(
            f"This is an adapter ({ADAPTER}), which would load another model; merge it into its base model first"
        )
    if CONFIG not in sizes:
        raise ValueError(f"There is no {CONFIG}: this is not a transformers model")
    weights = [WEIGHTS] if WEIGHTS in sizes else [INDEX, *sorted(set(shards))]
    if WEIGHTS not in sizes and INDEX not in sizes:
        raise ValueError(_no_weights(sizes))
    for name in weights:
        if name not in sizes or (name != INDEX and not _SHARD.fullmatch(name)):
            raise ValueError(f"{INDEX} names {name[:100]!a}, which is no weight file of this model")
    small = [*_SETTINGS, *(name for kind in TOKENIZERS for name in kind)]
    for name in small:
        if sizes.get(name, 0) > _MOST_TOKENIZER_BYTES:
            most = format_bytes(_MOST_TOKENIZER_BYTES)
            raise ValueError(f"{name} has {format_bytes(sizes[name])}, over {most}; that is no tokenizer's")
    names = [CONFIG, *small, *weights]
    return tuple(ModelFile(name, sizes[name]) for name in dict.fromkeys(names) if name in sizes)


def tokenizer_of(names: Iterable[str]) -> str | None:
    """Return the file that the tokenizer is read from; None where no tokenizer is complete."""
    there = set(names)
    return next((kind[-1] for kind in TOKENIZERS if there.issuperset(kind)), None)


def notes_on(config: SafeConfig, tokenizer: str | None) -> tuple[str, ...]:
    """Write the sentences that a reader should know: ignored settings, and a missing or slow tokenizer."""
    notes = [f"config.json asks for {what}; that was ignored." for what in config.ignored]
    if tokenizer is None:
        notes.append("There is no tokenizer here, so no text can be read by this model.")
    elif tokenizer != "tokenizer.json":
        notes.append(f"There is no fast tokenizer (tokenizer.json); one would be made from {tokenizer}.")
    return tuple(notes)


def _no_weights(names: Iterable[str]) -> str:
    pickled = sorted(name for name in names if _PICKLED.fullmatch(name.lower()))
    if pickled:
        return (
            f"The weights are pickled ({pickled[0][:60]!a}), and a pickle can run any code, so it is never opened. "
            "Choose a model with safetensors, or convert it where you trust it: save_pretrained() writes them."
        )
    return f"There are no safetensors weights ({WEIGHTS}); choose a model that has them"
