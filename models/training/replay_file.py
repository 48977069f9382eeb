"""The reader of replay.safetensors, which `replay.pack` writes; it needs no torch.

Shapes: M moments, H heads, Q query positions, T key positions.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.files import read_arrays

FILE = "replay.safetensors"
NORM = "norm."
INDUCTION = "induction."


@dataclass(frozen=True)
class ReplaySentence:
    """One of the fixed texts; the target is empty for an encoder."""

    source: str
    target: str
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]

    @property
    def text(self) -> str:
        """Source and target in one line."""
        return f"{self.source} → {self.target}" if self.target else self.source

    def tokens(self, stream: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the queries and keys of a stream; the decoder's queries are "token read → token predicted"."""
        if stream == "encoder" or not self.target_tokens:
            return self.source_tokens, self.source_tokens
        read, predicted = self.target_tokens[:-1], self.target_tokens[1:]
        queries = tuple(f"{token} → {following}" for token, following in zip(read, predicted, strict=True))
        return queries, self.source_tokens if stream == "cross" else read


class MapKey(NamedTuple):
    """The sentence, stream and layer of a map in a replay."""

    sentence: int
    stream: str
    layer: int


@dataclass(frozen=True)
class Replay:
    """A training at M of its steps, from step 0: maps float16 [M, H, Q, T], norms of matrices float64 [M].

    induction: of a decoder each head's score on random repeats (`training.repeats`), float64 [M, L, H]; None of others.
    """

    steps: tuple[int, ...]
    sentences: tuple[ReplaySentence, ...]
    maps: Mapping[MapKey, NDArray[np.float16]]
    norms: Mapping[str, NDArray[np.float64]]
    induction: NDArray[np.float64] | None = None

    @property
    def streams(self) -> tuple[str, ...]:
        """The recorded streams, in the order encoder, decoder, cross."""
        return tuple(name for name in ("encoder", "decoder", "cross") if any(key.stream == name for key in self.maps))

    def layers(self, stream: str) -> int:
        """Count the layers of a stream."""
        return 1 + max(key.layer for key in self.maps if key.stream == stream)

    @property
    def nbytes(self) -> int:
        """The memory of all arrays, in bytes."""
        return sum(maps.nbytes for maps in self.maps.values()) + sum(norms.nbytes for norms in self.norms.values())


def read(folder: Path) -> Replay:
    """Read the replay of a checkpoint; raises ValueError where its file is missing or damaged."""
    path = folder / FILE
    tensors, about = read_arrays(path)
    try:
        return _replay(tensors, json.loads(about))
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}).") from error


def _replay(tensors: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> Replay:
    steps = tuple(int(step) for step in about["steps"])
    sentences = tuple(
        ReplaySentence(
            fields["source"], fields["target"], tuple(fields["source_tokens"]), tuple(fields["target_tokens"])
        )
        for fields in about["sentences"]
    )
    moments: defaultdict[str, dict[int, NDArray[Any]]] = defaultdict(dict)
    for name, tensor in tensors.items():
        step, what = name.split("/", 1)
        moments[what][int(step)] = tensor
    if not steps or not sentences or any(set(by_step) != set(steps) for by_step in moments.values()):
        raise ValueError("a moment or a sentence is missing")
    series = {what: np.stack([by_step[step] for step in steps]) for what, by_step in moments.items()}
    norms = {what.removeprefix(NORM): array.astype(float) for what, array in series.items() if what.startswith(NORM)}
    scores = {int(what.removeprefix(INDUCTION)): array for what, array in series.items() if what.startswith(INDUCTION)}
    induction = np.stack([scores[layer] for layer in range(len(scores))], axis=1).astype(float) if scores else None
    maps = {_map_key(what): array for what, array in series.items() if not what.startswith((NORM, INDUCTION))}
    for key, array in maps.items():
        expected = tuple(len(tokens) for tokens in sentences[key.sentence].tokens(key.stream))
        if array.ndim != 4 or array.shape[2:] != expected:
            raise ValueError(f"maps of shape {array.shape} for tokens {expected}")
    wanted = {(key.stream, key.layer) for key in maps}
    if len(maps) != len(sentences) * len(wanted) or not maps:
        raise ValueError("a map is missing")
    return Replay(steps, sentences, maps, norms, induction)


def _map_key(name: str) -> MapKey:
    sentence, stream, layer = name.split(".")
    return MapKey(int(sentence), stream, int(layer))
