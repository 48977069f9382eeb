"""Attention maps from what an attention call was given: the whole, one head, a window, a small picture.

Everything is computed by the model's own function in the same blocks of query rows, so that the same cell has the same
bits however it is asked for, and no more than the answer and one block is ever held.

Shapes: H heads, K kv heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.overrides import TorchFunctionMode

from inspector.trace.pooling import MaxPool
from models.attention import AttentionFunction, attend_rows, row_blocks
from models.attention.masks import Mask
from models.layer_words import layer_name

Array = NDArray[np.float32]
Kind = Literal["weights", "scores"]


@dataclass(frozen=True)
class AttentionSite:
    """Where attention happened, and between which tokens.

    stream: "encoder", "decoder" or "cross" (the decoder's queries, the encoder's keys). layer: the model's layer, from
    0 in its encoder or decoder; layers without attention (state-space, convolution) count and have no site. call: which
    of the layer's attentions of this stream, 0 but where a layer attends more than once. predicts: in a decoder the
    token that each query has to predict, beside the one that it reads (`queries`). kv_heads: K; as many as heads where
    left out. window: of a local layer, whose queries see keys less than so many tokens away; None where they see the
    whole text.
    """

    stream: str
    layer: int
    heads: int
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    predicts: tuple[str, ...] | None = None
    kv_heads: int = 0
    window: int | None = None
    call: int = 0

    def __post_init__(self) -> None:
        if not self.kv_heads:
            object.__setattr__(self, "kv_heads", self.heads)
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.kv_heads} kv heads: the first must be a multiple")

    @property
    def name(self) -> str:
        """Its layer in words: "layer 3", and of a layer's second attention "layer 3 (2nd attention)"."""
        return layer_name(self.layer, self.call)

    def kv_group(self, head: int) -> int:
        """The kv head that a head reads its keys and values from (Ainslie et al. 2023)."""
        return head // (self.heads // self.kv_heads)


@dataclass(frozen=True)
class AttentionRecord:
    """The inputs of one attention call: query [H, Q, E], key and value [K, T, E].

    to_padding: [H, Q], the share of each row that went to the padding of its batch, which is no key here; None where
    that is nothing, as it should be.
    """

    site: AttentionSite
    function: AttentionFunction
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Mask | None
    to_padding: Tensor | None = None

    def of_head(self, head: int) -> AttentionRecord:
        """The call with that head alone: its maps are computed without the others'."""
        shared_by = self.query.shape[0] // self.key.shape[0]  # grouped-query attention
        own = slice(head // shared_by, head // shared_by + 1)
        return replace(
            self,
            function=self.function.of_head(head),
            query=self.query[head : head + 1],
            key=self.key[own],
            value=self.value[own],
            mask=None if self.mask is None else _HeadMask(self.mask, head),
            to_padding=None if self.to_padding is None else self.to_padding[head : head + 1],
        )


@dataclass(frozen=True)
class _HeadMask:
    """The mask of one head, where heads have masks of their own."""

    mask: Mask
    head: int

    def rows(self, start: int, stop: int) -> Tensor:
        rows = self.mask.rows(start, stop)
        return rows[:, self.head : self.head + 1] if rows.shape[1] > 1 else rows


@dataclass(frozen=True)
class Band:
    """A block of query rows of a map: float32 [H, queries, keys]; all other keys are masked from these queries."""

    queries: slice
    keys: slice
    values: Array


def bands(record: AttentionRecord, kind: Kind = "weights", *, queries: slice | None = None) -> Iterator[Band]:
    """All maps of one attention call in blocks of query rows, without the keys that a mask hides from the whole block.

    queries: those of interest; the blocks that hold any of them come whole.
    """
    # Contiguous always: the same memory layout gives the same bits, before and after a file.
    key, value = (tensor[None].contiguous() for tensor in (record.key, record.value))
    for rows in row_blocks(record.query.shape[1], record.key.shape[1], among=queries):
        yield _band(record, kind, key, value, rows)


def blocks(record: AttentionRecord, kind: Kind) -> Iterator[tuple[slice, Array]]:
    """The same with all keys: (rows, float32 [H, rows, T])."""
    for band in bands(record, kind):
        yield band.queries, _with_all_keys(band, keys=len(record.site.keys), elsewhere=_ELSEWHERE[kind])


def window(record: AttentionRecord, kind: Kind, *, queries: slice, keys: slice) -> Array:
    """Some rows and columns of all maps of a call: float32 [H, queries, keys], read-only."""
    shape = len(record.query), queries.stop - queries.start, keys.stop - keys.start
    chosen = np.full(shape, _ELSEWHERE[kind], np.float32)
    for band in bands(record, kind, queries=queries):
        rows, columns = _overlap(band.queries, queries), _overlap(band.keys, keys)
        chosen[:, _within(rows, queries), _within(columns, keys)] = band.values[
            :, _within(rows, band.queries), _within(columns, band.keys)
        ]
    chosen.setflags(write=False)
    return chosen


def pooled(record: AttentionRecord, *, side: int) -> Array:
    """Small pictures of all maps of a call, see `MaxPool`: float32 [H, rows, cols], read-only."""
    pool = MaxPool(len(record.query), len(record.site.queries), len(record.site.keys), side=side)
    for band in bands(record):
        pool.add(band.values, queries=band.queries, keys=band.keys)
    pool.cells.setflags(write=False)
    return pool.cells


# --- one block ---------------------------------------------------------------------------------------------------

_ELSEWHERE = {"weights": 0.0, "scores": float("-inf")}  # what a cell holds that no block computed, being masked


class _SoftmaxInput(TorchFunctionMode):
    """Keeps what goes into softmax while a model's own attention function runs; a mode acts on its thread alone."""

    scores: Tensor | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (torch.softmax, torch.nn.functional.softmax, Tensor.softmax):
            self.scores = args[0]
        return func(*args, **(kwargs or {}))


@torch.no_grad()
def _band(record: AttentionRecord, kind: Kind, key: Tensor, value: Tensor, rows: slice) -> Band:
    query = record.query[None, :, rows].contiguous()
    with _SoftmaxInput() as softmax:
        attended = attend_rows(record.function, query, key, value, mask=record.mask, rows=rows)
    if kind == "weights":
        block = attended.weights
        if record.to_padding is not None:
            block = block * (1 - record.to_padding[None, :, rows, None])
    else:
        block = _scores(record, softmax.scores, keys=attended.weights.shape[-1])
        if attended.allowed is not None:  # a masked score is no score; one that a wrong mask leaves finite is shown
            hidden = ~attended.allowed & (block < torch.finfo(block.dtype).min / 2)
            block = block.masked_fill(hidden, float("-inf"))
    return Band(rows, attended.band, block[0].float().cpu().numpy())


def _scores(record: AttentionRecord, softmax_input: Tensor | None, *, keys: int) -> Tensor:
    if softmax_input is None:
        raise ValueError(f"{record.function} calls no softmax, so there are no scores to show")
    return softmax_input[..., :keys]  # behind them may come a sink's column, which is no key's


def _with_all_keys(band: Band, *, keys: int, elsewhere: float) -> Array:
    around = (band.keys.start, keys - band.keys.stop)
    return band.values if around == (0, 0) else np.pad(band.values, ((0, 0), (0, 0), around), constant_values=elsewhere)


def _overlap(a: slice, b: slice) -> slice:
    """The places in both; an empty slice where there is none."""
    start = max(a.start, b.start)
    return slice(start, max(start, min(a.stop, b.stop)))


def _within(places: slice, whole: slice) -> slice:
    """Places counted from the start of a whole that they lie in; of an empty slice, which may lie anywhere, none."""
    empty = places.start >= places.stop
    return slice(0, 0) if empty else slice(places.start - whole.start, places.stop - whole.start)
