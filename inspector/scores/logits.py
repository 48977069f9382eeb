"""The softmax's input of every head on a text: how q . k varies against d_k, before the scale and after it.

For independent entries with mean 0 and variance 1 the product q . k of d_k of them has mean 0 and variance d_k, so
q . k / sqrt(d_k) has variance 1 (Vaswani et al. 2017, footnote 4). Trained projections promise none of that: here it is
measured. Maps are read block by block; memory is linear in the text.

A sigmoid's rows are divided by their sums (`WeightBlock.shares`); there is no softmax, so its ||J|| is NaN.

Cells that a mask hides are left out of everything; special tokens are queries and keys like all others. A query that
sees one key alone has no choice, and its row is left out of what is said of rows.

Shapes: H heads, K kv heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector import explain
from inspector.heads import with_call
from inspector.scores import saturation
from inspector.scores.saturation import SATURATED, Floats, SaturationRows
from inspector.trace import AttentionRecord, Trace, WeightBlock, recompute

if TYPE_CHECKING:
    from inspector.trace import Array


@dataclass(frozen=True)
class Moments:
    """Moments of some numbers of each head, [H] each: mean, variance, excess kurtosis, smallest, largest.

    kurtosis: m4 / m2^2 - 3, 0 for the normal distribution; NaN where nothing varies. within: the variance inside a
    row, mean over the rows: the softmax of a row does not see what all its scores share.
    """

    count: NDArray[np.int64]
    mean: Floats
    variance: Floats
    kurtosis: Floats
    low: Floats
    high: Floats
    within: Floats


@dataclass(frozen=True)
class LayerScores:
    """The numbers of one attention call. products: of q . k before the scale, None where q and k were not seen.

    scores: of the softmax's input, with scale, bias and soft-cap; None for a function without softmax. scale: the
    factor on q . k, None where they are not compared by a dot product that is known.
    """

    products: Moments | None
    scores: Moments | None
    rows: SaturationRows
    width: int
    scale: float | None


def measure(trace: Trace, *, on_layer: Callable[[float, int], None] | None = None) -> pd.DataFrame:
    """Measure the scores of every head of a trace: a row per stream, layer and head ("call" as in `heads.measure`).

    d_k: the width of a head. mean, variance, kurtosis (excess): of q . k over all cells that no mask hides. ratio:
        variance / d_k, 1 for independent entries of variance 1. scale: the factor on q . k. scaled: the variance of
        q . k x scale. within: the variance of the scores inside a row, mean over rows.
    Means, medians and shares over rows leave out queries that see one key: they have no choice.
    low, high: the smallest and largest score, the softmax's input, in nats.
    entropy: mean over rows, nats; relative_entropy: the mean of its share of ln(keys that the query sees), 0..1.
    largest, largest_median: the largest weight of a row, mean and median over rows. saturated: the share of rows in
        which it is above 0.9.
    jacobian, jacobian_median: ||J||_F of the softmax, mean and median over rows.

    NaN where a number is not known (queries that were not seen, a text in which no query has a choice). on_layer:
    called with the layers that are done, and how many there are; what it raises ends the measuring.
    """
    tables = []
    for done, site in enumerate(trace.sites):
        if on_layer is not None:
            on_layer(done, len(trace.sites))
        table = _table(layer_scores(trace.record_of(site.layer, site.stream, call=site.call)))
        table.insert(0, "stream", site.stream)
        table.insert(1, "layer", site.layer)
        table.insert(2, "head", range(site.heads))
        tables.append(with_call(table, site, trace.sites))
    return pd.concat(tables, ignore_index=True)


def layer_scores(record: AttentionRecord) -> LayerScores:
    """Measure one attention call, or one head of it, in one pass over its blocks."""
    width, keys = record.query.shape[-1], record.key.repeat_interleave(len(record.query) // len(record.key), dim=0)
    products, scores = _Sums(len(record.query)), _Sums(len(record.query))
    blocks = []
    for block in recompute.bands(record):
        values, seen = cells(record, block)
        if values is not None:
            scores.add(values, seen)
        if width:
            dots = record.query[:, block.queries].float() @ keys[:, block.keys].float().mT
            products.add(dots.cpu().numpy(), seen)
        count = np.array([[block.weights.shape[-1]]]) if seen is None else seen.sum(axis=-1)
        rows = saturation.read(block.shares, count)
        blocks.append(rows if block.normalised else replace(rows, jacobian=np.full_like(rows.jacobian, np.nan)))
    return LayerScores(
        products.result() if width else None,
        scores.result(),
        saturation.together(blocks),
        width,
        explain.scale_of(record),
    )


def alone(trace: Trace, record: AttentionRecord, *, head: int) -> float:
    """Compute a head alone and among all heads of its layer, and return the largest difference of their weights.

    A loop over the heads and one product of tensors that hold all heads are the same arithmetic. record: of the head.
    """
    whole = trace.record_of(record.site.layer, record.site.stream, call=record.site.call)
    both = zip(recompute.blocks(record, "weights"), recompute.blocks(whole, "weights"), strict=True)
    return max(float(np.abs(single[0] - among[head]).max()) for (_, single), (_, among) in both)


def cells(record: AttentionRecord, block: WeightBlock) -> tuple[Array | None, NDArray[np.bool_] | None]:
    """Return the scores of a block, None without a softmax, and the cells that are seen, None for all of them."""
    try:
        scores = block.scores
    except ValueError:  # no softmax
        scores = None
    if scores is not None:
        seen = np.isfinite(scores)
    elif record.mask is not None:
        allowed = record.mask.rows(block.queries.start, block.queries.stop)[0, :, :, block.keys]
        seen = np.broadcast_to(allowed.cpu().numpy(), block.weights.shape)
    else:
        return None, None
    return scores, None if seen.all() else seen


def _table(layer: LayerScores) -> pd.DataFrame:
    heads = len(layer.rows.entropy)
    nothing = np.full(heads, np.nan)
    products, scores, rows = layer.products, layer.scores, layer.rows
    variance = nothing if products is None else products.variance
    return pd.DataFrame(
        {
            "d_k": layer.width,
            "mean": nothing if products is None else products.mean,
            "variance": variance,
            "ratio": variance / max(layer.width, 1),
            "kurtosis": nothing if products is None else products.kurtosis,
            "scale": np.nan if layer.scale is None else layer.scale,
            "scaled": nothing if layer.scale is None else variance * layer.scale**2,
            "within": nothing if scores is None else scores.within,
            "low": nothing if scores is None else scores.low,
            "high": nothing if scores is None else scores.high,
            "entropy": over_rows(rows.entropy, rows),
            "relative_entropy": over_rows(rows.share_of_most(), rows),
            "largest": over_rows(rows.largest, rows),
            "largest_median": over_rows(rows.largest, rows, median=True),
            "saturated": over_rows((rows.largest > SATURATED).astype(np.float64), rows),
            "jacobian": over_rows(rows.jacobian, rows),
            "jacobian_median": over_rows(rows.jacobian, rows, median=True),
        }
    )


def over_rows(values: Floats, rows: SaturationRows, *, median: bool = False) -> Floats:
    """Mean or median over the rows that have a choice: [H, Q] -> [H]; NaN where none has."""
    chosen = [row[choosing] for row, choosing in zip(values, rows.choosing, strict=True)]
    return np.array([(np.median if median else np.mean)(row) if len(row) else np.nan for row in chosen])


class _Sums:
    """Adds up powers of each head's numbers, less a number near their mean, so that float64 loses no digits."""

    def __init__(self, heads: int) -> None:
        self._near: NDArray[Any] | None = None
        self._powers = np.zeros((4, heads))
        self._count = np.zeros(heads, np.int64)
        self._low, self._high = np.full(heads, np.inf), np.full(heads, -np.inf)
        self._within, self._rows = np.zeros(heads), np.zeros(heads)

    def add(self, values: Array, seen: NDArray[np.bool_] | None) -> None:
        """Add a block [H, rows, keys]; seen: the cells that count, None for all."""
        number = np.full(values.shape[:2], values.shape[-1]) if seen is None else seen.sum(axis=-1)  # [H, rows]
        if seen is not None:
            self._low = np.minimum(self._low, np.where(seen, values, np.inf).min(axis=(1, 2)))
            self._high = np.maximum(self._high, np.where(seen, values, -np.inf).max(axis=(1, 2)))
            values = np.where(seen, values, 0)
        else:
            self._low = np.minimum(self._low, values.min(axis=(1, 2)))
            self._high = np.maximum(self._high, values.max(axis=(1, 2)))
        if self._near is None:
            whole = values.sum(axis=(1, 2), dtype=np.float64) / np.maximum(number.sum(axis=1), 1)
            self._near = whole.astype(values.dtype)[:, None, None]
        less = values - self._near
        if seen is not None:
            less *= seen
        square = np.square(less)
        by_row = [block.sum(axis=-1, dtype=np.float64) for block in (less, square)]  # [H, rows]
        self._powers[0] += by_row[0].sum(axis=1)
        self._powers[1] += by_row[1].sum(axis=1)
        less *= square
        self._powers[2] += less.sum(axis=(1, 2), dtype=np.float64)
        self._powers[3] += np.square(square, out=square).sum(axis=(1, 2), dtype=np.float64)
        self._count += number.sum(axis=1)
        several = number > 1
        each = np.maximum(number, 1)
        self._within += np.where(several, by_row[1] / each - np.square(by_row[0] / each), 0.0).sum(axis=1)
        self._rows += several.sum(axis=1)

    def result(self) -> Moments | None:
        """The moments of all that was added; None where nothing was."""
        if self._near is None:
            return None
        first, second, third, fourth = self._powers / np.maximum(self._count, 1)
        variance = np.maximum(second - first**2, 0.0)
        central = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        flat = variance <= 1e-12 * np.maximum(second, 1e-300)
        kurtosis = np.where(flat, np.nan, central / np.where(flat, 1.0, variance) ** 2 - 3)
        within = np.where(self._rows > 0, np.maximum(self._within, 0.0) / np.maximum(self._rows, 1), np.nan)
        mean = self._near[:, 0, 0].astype(np.float64) + first
        return Moments(self._count, mean, variance, kurtosis, self._low, self._high, within)
