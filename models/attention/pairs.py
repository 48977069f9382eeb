"""Tensors with a number for each pair of tokens, kept in less memory than n x n numbers where their values allow it.

Shapes: Q query positions, T key positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Cut = Mapping[int, slice]
"""A part of a tensor: slices of some of its dimensions, counted from the end (-1 is the last)."""

_ROWS = 128  # compared at once


@dataclass(frozen=True)
class Whole:
    """A tensor kept whole."""

    values: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return tuple(self.values.shape)

    def part(self, cut: Cut) -> Tensor:
        """Return the cut of the tensor."""
        return self.values[tuple(cut.get(dim, slice(None)) for dim in range(-self.values.ndim, 0))]


@dataclass(frozen=True)
class ByDistance:
    """A tensor [..., Q, T] whose value depends on j - i alone: a causal mask, T5's and ALiBi's bias.

    table [..., Q + T - 1]: the values of the distances -(Q - 1) .. T - 1.
    """

    table: Tensor
    keys: int

    @property
    def shape(self) -> tuple[int, ...]:
        """[..., Q, T]."""
        return (*self.table.shape[:-1], self.table.shape[-1] - self.keys + 1, self.keys)

    def part(self, cut: Cut) -> Tensor:
        """Return the cut of the tensor."""
        queries = self.shape[-2]
        start, stop, _ = cut.get(-2, slice(None)).indices(queries)
        backwards = self.table.unfold(-1, self.keys, 1)  # a view; row i is its row Q - 1 - i
        mirrored = {**cut, -2: slice(queries - stop, queries - start)}
        return Whole(backwards).part(mirrored).flip(-2)


@dataclass(frozen=True)
class TwoValued:
    """A tensor that holds two values alone, as one bit a cell: bits [N, ceil(cells / 8)].

    size: its shape. N: the first of its dimensions that is not 1. values [2]: what 0 and 1 stand for.
    """

    bits: Tensor
    size: tuple[int, ...]
    values: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return tuple(self.size)

    def part(self, cut: Cut) -> Tensor:
        """Return the cut of the tensor."""
        first = _first(self.size)
        dim, rest = first - len(self.size), tuple(self.size[first + 1 :])
        bits = self.bits[cut.get(dim, slice(None))]
        cells = (bits[..., None] >> torch.arange(8, device=bits.device) & 1).flatten(start_dim=1)
        cells = cells[:, : torch.Size(rest).numel()].reshape(*[1] * first, len(bits), *rest)
        return self.values[Whole(cells).part({at: chosen for at, chosen in cut.items() if at != dim}).long()]


CompactTensor = Whole | ByDistance | TwoValued


def of_head(tensor: CompactTensor, head: int) -> CompactTensor:
    """The part of one head of a tensor [..., H, Q, T], or of one that all heads share: [..., 1, Q, T]."""
    alone = slice(head, head + 1)
    if tensor.shape[-3] == 1:
        return tensor
    if isinstance(tensor, ByDistance):
        return ByDistance(tensor.table[..., alone, :], tensor.keys)
    return Whole(tensor.part({-3: alone}))


def compact(tensor: Tensor) -> CompactTensor:
    """The tensor, kept as small as its values allow; exactly the same values come out again."""
    tensor = _without_repetition(tensor.detach())
    return by_distance(tensor) or _two_valued(tensor) or Whole(tensor)


def same(small: CompactTensor, tensor: Tensor) -> bool:
    """Return True if the compact form stands for this tensor [..., Q, T]."""
    blocks = (slice(start, start + _ROWS) for start in range(0, tensor.shape[-2], _ROWS))
    return small.shape == tensor.shape and all(torch.equal(small.part({-2: at}), tensor[..., at, :]) for at in blocks)


def by_distance(tensor: Tensor) -> ByDistance | None:
    """A tensor [..., Q, T] as a table over j - i; None where some cell has another value."""
    if tensor.ndim < 2 or 0 in tensor.shape or tensor.shape[-2] == 1:
        return None
    first_column, first_row = tensor[..., :, 0].flip(-1), tensor[..., 0, 1:]
    table = ByDistance(torch.cat([first_column, first_row], dim=-1), tensor.shape[-1])
    for start in range(0, tensor.shape[-2], _ROWS):
        rows = slice(start, min(start + _ROWS, tensor.shape[-2]))
        if not torch.equal(table.part({-2: rows}), tensor[..., rows, :]):
            return None
    return table


def _two_valued(tensor: Tensor) -> TwoValued | None:
    """A tensor of two values as bits; None where it has more."""
    low = tensor.flatten()[0]
    others = tensor[tensor != low]
    if not len(others) or not bool((others == others[0]).all()):
        return None
    cells = (tensor != low).reshape(tensor.shape[_first(tensor.shape)], -1)
    cells = torch.nn.functional.pad(cells, (0, -cells.shape[1] % 8)).reshape(len(cells), -1, 8)
    bits = (cells * (1 << torch.arange(8, device=tensor.device))).sum(dim=-1).to(torch.uint8)
    return TwoValued(bits, tuple(tensor.shape), torch.stack([low, others[0]]))


def _first(size: Sequence[int]) -> int:
    """The first dimension that is not 1; 0 where all are."""
    return next((dim for dim, cells in enumerate(size) if cells != 1), 0)


def _without_repetition(tensor: Tensor) -> Tensor:
    """Dimensions that an `expand` has made become 1 again."""
    for dim, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        if size > 1 and stride == 0:
            tensor = tensor.narrow(dim, 0, 1)
    return tensor
