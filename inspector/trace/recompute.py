"""Recomputes attention maps from the inputs of an attention call: all maps, one head, a window, a small picture.

The model's own function computes everything in the same blocks of query rows, so that the same cell has the same bits
however it is asked for, and no more than the answer and one block is ever held.

Shapes: H heads, K kv heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.overrides import TorchFunctionMode

from inspector.trace.pooling import MaxPool
from models.attention import AttentionFunction, attend_rows, row_blocks
from models.attention.given import ONLY_GIVEN, GivenWeights
from models.attention.masks import Mask
from models.formatting import layer_name

Array = NDArray[np.float32]
Kind = Literal["weights", "scores", "shares"]


@dataclass(frozen=True)
class AttentionSite:
    """The place of an attention call: stream, layer, heads, and the tokens that it joins.

    stream: "encoder", "decoder" or "cross" (the decoder's queries, the encoder's keys). layer: the model's layer, from
    0 in its encoder or decoder; layers without attention (state-space, convolution) count and have no site. call: which
    of the layer's attentions of this stream, 0 but where a layer attends more than once. predicts: in a decoder the
    token that each query has to predict, beside the one that it reads (`queries`), None where nobody knows it: behind
    the end of a text. kv_heads: K; as many as heads where
    left out. window: of a local layer, whose queries see keys less than so many tokens away; None where they see the
    whole text. kind: "softmax", also where a sigmoid stands in its place; layers of another kind are `MixerSite`s.
    """

    kind: ClassVar[Literal["softmax"]] = "softmax"

    stream: str
    layer: int
    heads: int
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    predicts: tuple[str | None, ...] | None = None
    kv_heads: int = 0
    window: int | None = None
    call: int = 0

    def __post_init__(self) -> None:
        if not self.kv_heads:
            object.__setattr__(self, "kv_heads", self.heads)
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} heads cannot share {self.kv_heads} kv heads: the first must be a multiple")

    @property
    def predicted(self) -> tuple[str, ...] | None:
        """Names for the tokens that the queries have to predict; "…" stands for an unknown one."""
        return None if self.predicts is None else tuple("…" if token is None else token for token in self.predicts)

    @property
    def name(self) -> str:
        """The layer in words: "layer 3", or "layer 3 (2nd attention)" for a layer's second attention."""
        return layer_name(self.layer, self.call)

    @property
    def tiles(self) -> int:
        """Small pictures in a grid of all heads: one for each."""
        return self.heads

    def kv_group(self, head: int) -> int:
        """The kv head that a head reads its keys and values from (Ainslie et al. 2023)."""
        return head // (self.heads // self.kv_heads)


@dataclass(frozen=True)
class AttentionRecord:
    """The inputs of one attention call: query [H, Q, E], key and value [K, T, E].

    to_padding: [H, Q], the share of each row that went to the padding of its batch, which is no key here; None where
    that is nothing, as it should be. gate: float32 [H, Q], how much of the length of each answer the layer's own gate
    lets through (models/attention/output_gate.py); None for a layer without one.
    """

    site: AttentionSite
    function: AttentionFunction
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Mask | None
    to_padding: Tensor | None = None
    gate: Tensor | None = None

    def of_head(self, head: int) -> AttentionRecord:
        """The inputs of one head alone, so that its maps are computed without the other heads' maps."""
        shared_by = self.query.shape[0] // self.key.shape[0]  # grouped-query attention
        kv_head = slice(head // shared_by, head // shared_by + 1)
        return replace(
            self,
            function=self.function.of_head(head),
            query=self.query[head : head + 1],
            key=self.key[kv_head],
            value=self.value[kv_head],
            mask=None if self.mask is None else _HeadMask(self.mask, head),
            to_padding=None if self.to_padding is None else self.to_padding[head : head + 1],
            gate=None if self.gate is None else self.gate[head : head + 1],
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
class WeightBlock:
    """A block of query rows of all maps of a call; all keys but `keys` are masked from these queries.

    weights: float32 [H, queries, keys]. normalised: whether a softmax made them.
    """

    queries: slice
    keys: slice
    weights: Array
    normalised: bool
    _read_scores: Callable[[], Array] = field(repr=False, compare=False)
    _read_sink: Callable[[], Array | None] = field(repr=False, compare=False)

    @cached_property
    def scores(self) -> Array:
        """Numbers that go into the softmax, or the sigmoid, of the same computation: float32 [H, queries, keys].

        Masked cells are -inf. Scores become an array when asked for. Raises ValueError for a function that calls
        neither.
        """
        return self._read_scores()

    @cached_property
    def sink(self) -> Array | None:
        """The weight of each query on what is no key of the text, a learned sink or side keys: float32 [H, queries].

        It is of the same softmax: with it a row sums to 1. None where the softmax has the text's keys alone.
        """
        return self._read_sink()

    @cached_property
    def shares(self) -> Array:
        """The part of its attention that a query gives to each key: [H, queries, keys]; rows sum to 1 but for sinks.

        The weights themselves where a softmax made them. A sigmoid's rows are divided by their sums, so that what is
        said of shares (an entropy, a mean distance) means the same for both; a row of zeros stays one.
        """
        if self.normalised:
            return self.weights
        mass = self.weights.sum(axis=-1, keepdims=True, dtype=np.float64)
        divided: Array = (self.weights / np.where(mass > 0, mass, 1)).astype(np.float32)
        return divided

    def values(self, kind: Kind) -> Array:
        """The weights, the scores or the shares."""
        match kind:
            case "weights":
                return self.weights
            case "shares":
                return self.shares
            case "scores":
                return self.scores


def bands(record: AttentionRecord, *, queries: slice | None = None) -> Iterator[WeightBlock]:
    """Compute all maps of one attention call once, in blocks of query rows, without keys masked from a whole block.

    queries: the rows of interest; the blocks that hold any of them come whole.
    """
    # Contiguous always: the same memory layout gives the same bits, before and after a file.
    key, value = (tensor[None].contiguous() for tensor in (record.key, record.value))
    for rows in row_blocks(record.query.shape[1], record.key.shape[1], among=queries):
        yield _block(record, key, value, rows)


def blocks(record: AttentionRecord, kind: Kind) -> Iterator[tuple[slice, Array]]:
    """Compute weights or scores in blocks of query rows with all keys: (rows, float32 [H, rows, T])."""
    for block in bands(record):
        yield block.queries, _with_all_keys(block, kind, keys=len(record.site.keys))


def window(
    record: AttentionRecord,
    kind: Kind,
    *,
    queries: slice,
    keys: slice,
    on_block: Callable[[WeightBlock], None] | None = None,
) -> Array:
    """Compute some rows and columns of all maps of a call: float32 [H, queries, keys], read-only.

    on_block: called with each block that the window needs, for readers of the whole rows.
    """
    shape = len(record.query), queries.stop - queries.start, keys.stop - keys.start
    chosen = np.full(shape, _ELSEWHERE[kind], np.float32)
    for block in bands(record, queries=queries):
        rows, columns = _overlap(block.queries, queries), _overlap(block.keys, keys)
        chosen[:, _within(rows, queries), _within(columns, keys)] = block.values(kind)[
            :, _within(rows, block.queries), _within(columns, block.keys)
        ]
        if on_block is not None:
            on_block(block)
    chosen.setflags(write=False)
    return chosen


def sink(record: AttentionRecord, *, queries: slice) -> Array | None:
    """Compute the weights of some queries on what is no key: float32 [H, queries], read-only; see WeightBlock.sink."""
    parts = []
    for block in bands(record, queries=queries):
        if block.sink is None:
            return None
        parts.append(block.sink[:, _within(_overlap(block.queries, queries), block.queries)])
    joined: Array = np.concatenate(parts, axis=1)
    joined.setflags(write=False)
    return joined


def pooled(record: AttentionRecord, *, side: int) -> Array:
    """Compute small pictures of all maps of a call, see `MaxPool`: float32 [H, rows, cols], read-only."""
    pool = MaxPool(len(record.query), len(record.site.queries), len(record.site.keys), side=side)
    for block in bands(record):
        pool.add(block.weights, queries=block.queries, keys=block.keys)
    pool.cells.setflags(write=False)
    return pool.cells


# --- one block ---------------------------------------------------------------------------------------------------

_ELSEWHERE = {"weights": 0.0, "shares": 0.0, "scores": float("-inf")}  # of a masked cell, which no block computes


class _WeightsInput(TorchFunctionMode):
    """Catches what a model's own attention function makes its weights of; a mode acts on its thread alone."""

    def __init__(self, function: AttentionFunction) -> None:
        super().__init__()
        softmax = (torch.softmax, torch.nn.functional.softmax, Tensor.softmax)
        self.makers: tuple[Any, ...] = softmax if function.normalised else (torch.sigmoid,)
        self._by_head = not function.normalised  # a sigmoid comes head by head
        self._seen: list[Tensor] = []

    @property
    def scores(self) -> Tensor | None:
        """Return the scores that were caught, [1, H, queries, keys]; None where nothing was."""
        if not self._seen:
            return None
        return torch.stack(self._seen, dim=1) if self._by_head else self._seen[-1]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in self.makers:
            self._seen = [*(self._seen if self._by_head else ()), args[0]]
        return func(*args, **(kwargs or {}))


@torch.no_grad()
def _block(record: AttentionRecord, key: Tensor, value: Tensor, rows: slice) -> WeightBlock:
    query = record.query[None, :, rows].contiguous()
    with _WeightsInput(record.function) as seen:
        attended = attend_rows(record.function, query, key, value, mask=record.mask, rows=rows)
    weights = attended.weights
    if record.to_padding is not None:
        weights = weights * (1 - record.to_padding[None, :, rows, None])
    keys = weights.shape[-1]
    scores, sink = (
        partial(_scores, record, seen, attended.allowed, keys=keys),
        partial(_sink, record, seen, rows, keys=keys),
    )
    return WeightBlock(rows, attended.band, _float32(weights), record.function.normalised, scores, sink)


@torch.no_grad()
def _scores(record: AttentionRecord, seen: _WeightsInput, allowed: Tensor | None, *, keys: int) -> Array:
    made_of = seen.scores
    if isinstance(record.function, GivenWeights):
        raise ValueError(f"attention that was given has no scores: {ONLY_GIVEN}")
    if made_of is None:
        raise ValueError(f"{record.function} calls neither softmax nor sigmoid, so there are no scores to show")
    scores = made_of[..., :keys]  # behind them may come a sink's column, which is no key's
    if allowed is not None:  # a masked score is no score; one that a wrong mask leaves finite is shown
        hidden = ~allowed & (scores < torch.finfo(scores.dtype).min / 2)
        scores = scores.masked_fill(hidden, float("-inf"))
    return _float32(scores)


@torch.no_grad()
def _sink(record: AttentionRecord, seen: _WeightsInput, rows: slice, *, keys: int) -> Array | None:
    made_of = seen.scores if record.function.normalised else None
    if made_of is None or made_of.shape[-1] <= keys:
        return None
    beside = made_of.float().softmax(dim=-1)[..., keys:].sum(dim=-1)
    if record.to_padding is not None:
        beside = beside * (1 - record.to_padding[None, :, rows])
    return _float32(beside)


def _float32(block: Tensor) -> Array:
    """[1, H, queries, keys] -> float32 [H, queries, keys]."""
    array: Array = block[0].float().cpu().numpy()
    return array


def _with_all_keys(block: WeightBlock, kind: Kind, *, keys: int) -> Array:
    values, around = block.values(kind), (block.keys.start, keys - block.keys.stop)
    if around == (0, 0):
        return values
    return np.pad(values, ((0, 0), (0, 0), around), constant_values=_ELSEWHERE[kind])


def _overlap(a: slice, b: slice) -> slice:
    """The intersection; an empty slice where there is none."""
    start = max(a.start, b.start)
    return slice(start, max(start, min(a.stop, b.stop)))


def _within(places: slice, whole: slice) -> slice:
    """Re-base `places` so that they count from `whole.start`. An empty slice stays empty."""
    empty = places.start >= places.stop
    return slice(0, 0) if empty else slice(places.start - whole.start, places.stop - whole.start)
