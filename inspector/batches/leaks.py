"""Leaks of a mask: the weight that lands where a query must not look, for every fill, order and dtype.

The scores are made again from a recording's own queries and keys, so that one recording answers for all of them.

Shapes: H heads, Q queries, T keys, E head width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from math import inf
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from inspector.batches.layouts import Batch, BatchRow
from inspector.trace import Array, AttentionRecord
from models.attention import AttentionFunction, row_blocks
from models.attention.functions import ComposedAttention, DotProductAttention, WeightedSum
from models.attention.scores import DotScore, Fill, FillWith, MultiplyByZero

FILLS: dict[str, float | None] = {"-inf": -inf, "-1e9": -1e9, "-1e4": -1e4, "-20": -20.0, "-10": -10.0}
FILLS |= {"x 0": 0.0, "no mask": None}
"""The ways to mask by their names; a number is what masked scores become, or what is added to them."""
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
RAISES, NAN = "raises: too large for the dtype", "NaN"
"""Ends of a mask that gives no weights."""


@dataclass(frozen=True)
class AddTo:
    """Add a number to masked scores, as a mask of float32 that is cast to their dtype."""

    value: float

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        """[B, H, Q, T] -> [B, H, Q, T]."""
        added = torch.zeros(mask.shape).masked_fill(~mask, self.value)
        return scores + added.to(scores.dtype)


@dataclass(frozen=True)
class LeaveAll:
    """Mask nothing."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        """[B, H, Q, T] -> [B, H, Q, T]."""
        return scores


@dataclass(frozen=True)
class _Added:
    """A bias that a function of another kind adds to its scaled scores (T5's in transformers)."""

    function: AttentionFunction

    def __call__(self, rows: slice, keys: int) -> Tensor:
        added = self.function.added(rows, keys)
        return torch.zeros(1, 1, 1) if added is None else added[0]

    def of_head(self, head: int) -> _Added:
        return _Added(self.function.of_head(head))


def leaks(
    batch: Batch,
    *,
    layer: int,
    head: int,
    stream: str | None = None,
    call: int = 0,
    before_scale: bool = False,
    added: bool = False,
) -> pd.DataFrame:
    """Measure where a head's weight would go, a row per fill and dtype.

    leak: the weight on padding and on other texts, mean over the queries of the texts that have any in their row;
    largest: of one query; hidden: the mean weight on all that the mask hides, later tokens included; change: the
    largest difference of a real query's weight from -inf in float32. problem: RAISES where torch refuses the number,
    NAN where weights are none, "" else. before_scale: the mask comes before the factor and the bias, softmax((QK^T +
    M) / sqrt(d_k)). added: the number is added to the score in place of it, cast from float32.

    Raises ValueError where weights are more than the softmax of a scaled product with a bias (soft-cap, sinks) or no
    softmax's, and for a layer, head or stream that there is not.
    """
    records = [
        (row, row.trace.record_of_head(layer, head, stream, call=call), _rows_of(row, stream)) for row in batch.rows
    ]
    truths = [_weights(record, FillWith(-inf), torch.float32, before_scale=False)[real] for _, record, real in records]
    rows = []
    for name, value in FILLS.items():
        for dtype_name, dtype in DTYPES.items():
            fill = _fill(name, value, added=added)
            leak, hidden, change, problem = [], [], 0.0, ""
            for (row, record, real), truth in zip(records, truths, strict=True):
                try:
                    weights = _weights(record, fill, dtype, before_scale=before_scale)[real]
                except RuntimeError as error:
                    if "overflow" not in str(error):
                        raise
                    problem = RAISES
                    break
                if not np.isfinite(weights).all():
                    problem = NAN
                    break
                query_owner, key_owner = row.owners(record.site.stream)
                foreign = query_owner[real][:, None] != key_owner[None, :]
                leak.append((weights * foreign).sum(axis=1)[foreign.any(axis=1)])
                hidden.append((weights * ~_allowed(record)[real]).sum(axis=1))
                change = max(change, float(np.abs(weights - truth).max()))
            if problem:
                rows.append((name, dtype_name, *[float("nan")] * 4, problem))
                continue
            shares, behind = np.concatenate(leak), np.concatenate(hidden)
            foreign_too = (float(shares.mean()), float(shares.max())) if shares.size else (0.0, 0.0)
            numbers = (*foreign_too, float(behind.mean()), change)
            rows.append((name, dtype_name, *numbers, ""))
    return pd.DataFrame(rows, columns=["fill", "dtype", "leak", "largest", "hidden", "change", "problem"])


def nothing_to_see(scores: Array) -> pd.DataFrame:
    """Give a query whose keys are all masked to the softmax, a row per way to mask; scores: the query's own, [T].

    Columns: mask, weight (on the first key; NaN where there is none), sum (of the row). torch's fused kernel (SDPA) is
    given a boolean mask: it returns 0 for such a row.
    """
    keys, given = len(scores), torch.from_numpy(scores.copy())
    mask = torch.zeros(keys, dtype=torch.bool)
    rows = [
        (f"filled with {name}", _softmax(FillWith(value)(given[None], mask[None])[0]))
        for name, value in FILLS.items()
        if value
    ]
    rows.append(("x 0", _softmax(MultiplyByZero()(given[None], mask[None])[0])))
    values = torch.eye(keys)[None]
    with torch.no_grad():
        fused = torch.nn.functional.scaled_dot_product_attention(
            torch.zeros(1, 1, keys), torch.zeros(1, keys, keys), values, attn_mask=mask[None, None].expand(1, 1, keys)
        )
    rows.append(("SDPA, boolean mask", fused[0, 0]))
    return pd.DataFrame(
        [(name, float(weights[0]), float(weights.sum())) for name, weights in rows], columns=["mask", "weight", "sum"]
    )


def own_fill(function: AttentionFunction) -> float | None:
    """The number that a model's own function sets a masked score to; 0 where it multiplies it by 0.

    None where the function is a transformers model's, which adds the smallest number of its dtype.
    """
    if isinstance(function, ComposedAttention):
        return function.fill.value if isinstance(function.fill, FillWith) else 0.0
    return -inf if isinstance(function, DotProductAttention) else None


def own_score(function: AttentionFunction) -> tuple[bool, float]:
    """Tell whether a function's scores are dot products, and the factor on them; ValueError as `leaks`."""
    composed = _refilled(function, LeaveAll(), before_scale=False)
    return composed.score == DotScore(), composed.factor


def _softmax(scores: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1)


def _rows_of(row: BatchRow, stream: str | None) -> np.ndarray:
    """The real queries of a row."""
    owner, _ = row.owners(row.trace.streams[0] if stream is None else stream)
    return np.asarray(owner >= 0)


def _fill(name: str, value: float | None, *, added: bool) -> Fill:
    if value is None:
        return LeaveAll()
    if name == "x 0":
        return MultiplyByZero()
    return AddTo(value) if added else FillWith(value)


def _allowed(record: AttentionRecord) -> np.ndarray:
    """The mask of a head's record, boolean [Q, T]."""
    queries, keys = len(record.site.queries), len(record.site.keys)
    if record.mask is None:
        return np.ones((queries, keys), dtype=bool)
    return np.asarray(record.mask.rows(0, queries).expand(1, 1, queries, keys)[0, 0].numpy())


@torch.no_grad()
def _weights(record: AttentionRecord, fill: Fill, dtype: torch.dtype, *, before_scale: bool) -> np.ndarray:
    """Compute the weights of one head under another fill, in a dtype: float64 [Q, T]; block by block."""
    function = _cast(_refilled(record.function, fill, before_scale=before_scale), dtype)
    query, key, value = (tensor[None].to(dtype) for tensor in (record.query, record.key, record.value))
    allowed = torch.from_numpy(_allowed(record))
    parts = [
        function(query[:, :, rows], key, value, allowed[None, None, rows], rows=rows)[1]
        for rows in row_blocks(query.shape[2], key.shape[2])
    ]
    return np.asarray(torch.cat(parts, dim=2)[0, 0].double().numpy())


def _refilled(function: AttentionFunction, fill: Fill, *, before_scale: bool) -> ComposedAttention:
    """Put another fill into an attention function; ValueError where its weights cannot be made again."""
    if not function.normalised:
        raise ValueError("its weights are no softmax's, so there is no row of which a fill could take a share")
    if isinstance(function, ComposedAttention):
        return replace(function, fill=fill, fill_first=before_scale)
    if function.scale is None or function.sinks:
        raise ValueError(
            "this model's weights are more than the softmax of a scaled product with a bias (a soft-cap, a sink), so "
            "they are not made again under another mask"
        )
    return ComposedAttention(DotScore(), function.scale, _Added(function), fill, before_scale, WeightedSum())


def _cast(part: Any, dtype: torch.dtype) -> Any:
    """Copy a function with its tensors in a dtype, where they are floating-point."""
    return _mapped(part, lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)


def _mapped(part: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(part, Tensor):
        return change(part)
    if not is_dataclass(part) or isinstance(part, type | _Added):
        return part
    return replace(part, **{field.name: _mapped(getattr(part, field.name), change) for field in fields(part)})
