"""The mix A V that shown weights make of a trace's values, in a few directions, so that it is cheap to make and keep.

The directions are random and always the same: no exchange of heads, rows, keys or dimensions leaves a mix as it is in
all of them.

Shapes: H heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor

from inspector.trace.recompute import AttentionRecord, WeightBlock
from models.attention.functions import ComposedAttention, for_each_head

DIRECTIONS = 4


class ValueMix(NamedTuple):
    """A V in the directions, [H, Q, 4], and the sum of each row of A, [H, Q, 1]."""

    mixed: Tensor
    mass: Tensor


@cache
def directions(width: int) -> Tensor:
    """Draw the directions of vectors of a width E: [E, 4]."""
    drawn = torch.randn(width, DIRECTIONS, generator=torch.Generator().manual_seed(0))
    return drawn / sqrt(width)


@torch.no_grad()
def mix(record: AttentionRecord, block: WeightBlock) -> ValueMix:
    """Mix the values by a block of weights, in the way of the call's function, side keys included."""
    function, rows = record.function, block.queries
    weights, value = torch.from_numpy(block.weights)[None], record.value[None, :, block.keys]
    mass, onto = weights.sum(dim=-1, keepdim=True), directions(value.shape[-1])
    if isinstance(function, ComposedAttention):
        by_head = for_each_head(value, record.site.heads)
        mixed = function.mix(weights.to(value.dtype), by_head, rows).float() @ onto
    else:
        by_head = for_each_head(value.float() @ onto, record.site.heads)
        mixed = (by_head.mT @ weights.mT).mT  # a product with few columns takes four times as long as one with few rows
    side = function.side(rows)
    if side is not None and function.scale is not None:  # what tokens leave of a row goes to keys that are no tokens
        scores = record.query[None, :, rows] @ side.key.transpose(-1, -2) * function.scale
        scores = scores if side.added is None else scores + side.added
        beside = torch.softmax(scores.float(), dim=-1) @ (side.value.float() @ onto)
        mixed = mixed + (1 - mass) * beside
    return ValueMix(mixed[0], mass[0])


def join(blocks: Iterable[ValueMix]) -> ValueMix:
    """Join the mixes of blocks of query rows."""
    mixed, mass = zip(*blocks, strict=True)
    return ValueMix(torch.cat(mixed, dim=1), torch.cat(mass, dim=1))
