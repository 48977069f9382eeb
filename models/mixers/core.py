"""The core of a mixer: what its map is computed from, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from torch import Tensor

MixerKind = Literal[
    "gated delta rule",
    "Kimi delta attention",
    "lightning attention",
    "state space",
    "expected hash collisions",
    "selective scan",
    "RG-LRU",
    "WKV",
    "short convolution",
]
"""Kinds of layers that mix tokens in attention's place, or beside it."""
BY_CHANNEL: frozenset[MixerKind] = frozenset(("selective scan", "RG-LRU", "WKV", "short convolution"))
"""Kinds with a map for each channel; the others have a map for each head."""


class Core(Protocol):
    """The tensors that a layer's own code made of a text, and the maps that follow from them.

    Tensors with a token axis have it first, [T, ...], in a recording; behind the batch, [B, T, ...], as a model runs.
    """

    by_token: ClassVar[tuple[str, ...]]
    """The fields that have a token axis."""

    def blocks(self, *, queries: slice) -> Iterator[tuple[slice, Tensor]]:
        """Compute maps in blocks of rows: (rows, float64 [H, rows, keys up to the last that any of these rows reads]).

        queries: the rows of interest; the blocks that hold any of them come whole.
        """
        ...

    def of_heads(self, heads: Sequence[int]) -> Core:
        """Return the core of some heads, or of some channels, alone."""
        ...


AnyCore = TypeVar("AnyCore")


def of_sequence(core: AnyCore, row: int, real: slice, *, whole: bool) -> AnyCore:
    """Pick one sequence of a batch: its real tokens' part of every tensor with a token axis, [B, T, ...] -> [T, ...].

    whole: the batch is this sequence alone, so that nothing has to be cut out. No part is a view of a larger storage.
    """
    named: Any = core
    parts = {name: getattr(named, name) for name in named.by_token}
    picked = {
        name: part_of(part, row, real, whole=whole) if isinstance(part, Tensor) else part
        for name, part in parts.items()
    }
    core_of_one: AnyCore = replace(named, **picked)
    return core_of_one


def part_of(tensor: Tensor, row: int, real: slice, *, whole: bool) -> Tensor:
    """One sequence of a tensor [B, T, ...] -> [T, ...]; a copy where it would hold memory that is not its own."""
    part = tensor[row] if whole else tensor[row, real]
    part = part.detach()
    return part.clone() if part.untyped_storage().nbytes() > part.nbytes else part
