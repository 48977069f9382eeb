"""Activations through several norms: LayerNorm, RMSNorm, and BatchNorm with its three kinds of statistics.

Shapes: B texts, T columns, D width; keep [B, T] is False on padding. All in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Keep = NDArray[np.bool_]
OtherNorm = Literal["none", "layer", "rms", "batch", "masked batch", "running batch"]
OTHERS: tuple[OtherNorm, ...] = get_args(OtherNorm)
_DRAWS = 400
_LINES = 64  # of tokens or dimensions whose order is compared at once: memory stays that of so many


def through(
    x: Floats,
    keep: Keep,
    *,
    norm: OtherNorm,
    epsilon: float = 1e-5,
    running: tuple[Floats, Floats] | None = None,
    gamma: Floats | None = None,
    beta: Floats | None = None,
) -> Floats:
    """Send x [B, T, D] through a norm -> [B, T, D].

    "layer" (Ba et al. 2016) and "rms" (Zhang & Sennrich 2019) take their statistics from one token's D numbers; "batch"
    (Ioffe & Szegedy 2015) takes each dimension's statistics from all B * T cells, padding counted; "masked batch" from
    the real tokens; "running batch" has `running`, a mean [D] and a variance [D], of other texts; "none" changes
    nothing. gamma and beta [D]: what follows, nothing where None. Raises ValueError for running statistics that are
    missing, and where a batch has fewer than two cells to take a variance from.
    """
    x = x.astype(np.float64)
    made = x
    if norm == "layer":
        made = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon)
    elif norm == "rms":
        made = x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + epsilon)
    elif norm != "none":
        mean, variance = _feature_statistics(x, keep, norm=norm, running=running)
        made = (x - mean) / np.sqrt(variance + epsilon)
    return made * (1.0 if gamma is None else gamma) + (0.0 if beta is None else beta)


def running_statistics(x: Floats, keep: Keep) -> tuple[Floats, Floats]:
    """Mean [D] and variance [D] of each dimension over the real tokens, as BatchNorm keeps them for its eval mode.

    The variance is the unbiased one. BatchNorm itself keeps an exponential average over its batches; over one pass of
    all of them it comes to this.
    """
    real = x[keep].astype(np.float64)
    if len(real) < 2:
        raise ValueError(f"running statistics of {len(real)} token: there must be at least 2")
    return real.mean(axis=0), real.var(axis=0, ddof=1)


def by_position(x: Floats, keep: Keep) -> pd.DataFrame:
    """Measure BatchNorm with statistics of its own for each position, a row per column that holds a real token.

    Columns: position (the column of the batch), count (texts with a real token there), deviation: the mean over the
    dimensions of the standard deviation over these texts; 0 where there is one, for then every token becomes beta.
    """
    rows = []
    for position in np.flatnonzero(keep.any(axis=0)):
        real = x[keep[:, position], position].astype(np.float64)
        rows.append((int(position), len(real), float(real.std(axis=0).mean())))
    return pd.DataFrame(rows, columns=["position", "count", "deviation"])


def compared(
    x: Floats, keep: Keep, *, epsilon: float = 1e-5, running: tuple[Floats, Floats] | None = None
) -> pd.DataFrame:
    """Compare the norms on the real tokens of a batch, before gamma and beta, a row per norm.

    pairs: how many pairs of mean and deviation it takes; cells: over how many numbers each. within: Kendall's tau-a
    between the order of a token's dimensions before and after, mean over tokens (1: the order is kept); across: the
    same of each dimension's tokens, mean over dimensions. skew, kurtosis: third and fourth standardised moments of one
    token's D numbers after the norm, mean over tokens (a normal distribution has 0 and 3). scaled: the largest change
    of the output where x is multiplied by 1,000. others: the largest change of a token where all other texts of the
    batch are left out. All pairs are compared.
    """
    real = x[keep].astype(np.float64)
    rows = []
    for norm in OTHERS:
        if norm == "running batch" and running is None:
            continue
        after = through(x, keep, norm=norm, epsilon=epsilon, running=running)
        out = after[keep]
        scaled = through(1000 * x.astype(np.float64), keep, norm=norm, epsilon=epsilon, running=running)[keep]
        alone = max(
            float(
                np.abs(
                    through(x[[row]], keep[[row]], norm=norm, epsilon=epsilon, running=running)[keep[[row]]]
                    - after[row][keep[row]]
                ).max()
            )
            for row in range(len(x))
            if keep[row].sum() > 1
        )
        pairs, cells = _pairs(norm, x, keep)
        rows.append(
            (
                norm,
                pairs,
                cells,
                _order_kept(real, out),
                _order_kept(real.T, out.T),
                float(_moment(out, 3).mean()),
                float(_moment(out, 4).mean()),
                float(np.abs(scaled - out).max()),
                alone,
            )
        )
    columns = ["norm", "pairs", "cells", "within", "across", "skew", "kurtosis", "scaled", "others"]
    return pd.DataFrame(rows, columns=columns)


def noise(x: Floats, keep: Keep, *, sizes: Sequence[int] = (1, 2, 4, 8, 16), seed: int = 0) -> pd.DataFrame:
    """Measure how far BatchNorm's mean moves from one batch to the next, a row per batch size.

    `texts` of the B texts are drawn 400 times, with replacement; deviation: the standard deviation over the draws of
    each dimension's mean over the real tokens, divided by the dimension's own standard deviation, mean over the
    dimensions. LayerNorm has no such noise: its mean is the token's own.
    """
    random = np.random.default_rng(seed)
    real = x[keep].astype(np.float64)
    spread = real.std(axis=0)
    sums = np.where(keep[..., None], x, 0).astype(np.float64).sum(axis=1)  # [B, D]
    counts = keep.sum(axis=1)
    rows = []
    for size in sizes:
        drawn = random.integers(0, len(x), (_DRAWS, size))
        times = np.stack([np.bincount(texts, minlength=len(x)) for texts in drawn])  # [draws, B]
        means = times @ sums / (times @ counts)[:, None]  # [draws, D]
        relative = means.std(axis=0)[spread > 0] / spread[spread > 0]
        rows.append((size, float(relative.mean()) if len(relative) else 0.0))
    return pd.DataFrame(rows, columns=["texts", "deviation"])


def _feature_statistics(
    x: Floats, keep: Keep, *, norm: OtherNorm, running: tuple[Floats, Floats] | None
) -> tuple[Floats, Floats]:
    if norm == "running batch":
        if running is None:
            raise ValueError("running statistics are those of other texts: give them as running=(mean, variance)")
        return running
    cells = x.reshape(-1, x.shape[-1]) if norm == "batch" else x[keep]
    if len(cells) < 2:
        raise ValueError(f"BatchNorm over {len(cells)} cell: its variance is 0 whatever the token is")
    return cells.mean(axis=0), cells.var(axis=0)


def _pairs(norm: OtherNorm, x: Floats, keep: Keep) -> tuple[int, int]:
    if norm == "none":
        return 0, 0
    if norm in ("layer", "rms"):
        return int(keep.sum()), x.shape[-1]
    return x.shape[-1], {"batch": keep.size, "masked batch": int(keep.sum())}.get(norm, 0)


def _moment(out: Floats, power: int) -> Floats:
    centred = out - out.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=-1))
    moment: Floats = np.power(centred, power).mean(axis=-1) / np.where(spread > 0, spread, 1) ** power
    return moment


def _order_kept(before: Floats, after: Floats) -> float:
    """Kendall's tau-a between the rows of two matrices, mean over the rows; NaN where a row has one number."""
    if before.shape[1] < 2:
        return float("nan")
    taus = [
        kendall(before[start : start + _LINES], after[start : start + _LINES])
        for start in range(0, len(before), _LINES)
    ]
    return float(np.concatenate(taus).mean())


def kendall(before: Floats, after: Floats) -> Floats:
    """Kendall's tau-a of each row of two matrices [R, N] -> [R]: share of pairs in like order less in reverse.

    A pair that is equal on either side counts as neither (Kendall 1938). All pairs count, in N log N steps.
    """
    count = before.shape[1]
    first, second = _ranks(before), _ranks(after)
    ordered = np.sort(first * count + second, axis=1)  # by the first, equal ones by the second
    pairs = count * (count - 1) / 2
    equal = _equal_pairs(np.sort(first, axis=1)) + _equal_pairs(np.sort(second, axis=1)) - _equal_pairs(ordered)
    taus: Floats = (pairs - equal - 2 * _falling_pairs(ordered % count)) / pairs
    return taus


def _ranks(values: Floats) -> NDArray[np.int64]:
    """Rank the numbers of each row [R, N] from 0, equal numbers alike."""
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    steps = np.zeros(values.shape, dtype=np.int64)
    steps[:, 1:] = np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1)
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps, axis=1)
    return ranks


def _equal_pairs(ordered: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the pairs of equal numbers in each sorted row [R, N] -> [R]."""
    places = np.broadcast_to(np.arange(ordered.shape[1]), ordered.shape)
    begins = np.zeros(ordered.shape, dtype=np.int64)  # where each number's like begin
    begins[:, 1:] = np.where(ordered[:, 1:] != ordered[:, :-1], places[:, 1:], 0)
    counted: NDArray[np.int64] = (places - np.maximum.accumulate(begins, axis=1)).sum(axis=1)
    return counted


def _falling_pairs(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the pairs of each row [R, N] whose left number is the larger -> [R], by merging sorted halves."""
    rows, count = ranks.shape
    width = 1 << (count - 1).bit_length()
    merged = np.full((rows, width), count, dtype=np.int64)  # what fills up is larger than all, and behind
    merged[:, :count] = ranks
    falling = np.zeros(rows, dtype=np.int64)
    half = 1
    while half < width:
        sides = 2 * merged.reshape(rows, -1, 2, half) + np.array([0, 1])[:, None]  # the last bit: of the right half
        ordered = np.sort(sides.reshape(rows, -1, 2 * half), axis=-1)
        right = ordered % 2
        larger = half - np.cumsum(1 - right, axis=-1)  # of the left half, behind each place
        falling += (right * larger).sum(axis=(1, 2))
        merged, half = ordered // 2, 2 * half
    return falling
