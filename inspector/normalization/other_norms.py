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
_MOST_PAIRS = 512  # tokens and dimensions of which pairs are compared


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
    (Ioffe & Szegedy 2015) those of each dimension from all B * T cells, padding counted; "masked batch" from the real
    tokens; "running batch" has `running`, a mean [D] and a variance [D], of other texts; "none" changes nothing. gamma
    and beta [D]: what follows, nothing where None. Raises ValueError for running statistics that are missing, and where
    a batch has fewer than two cells to take a variance from.
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
    batch are left out. At most 512 tokens and dimensions, evenly spaced, are compared in pairs.
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

    Of the B texts `texts` are drawn 400 times, with replacement; deviation: the standard deviation over the draws of
    each dimension's mean over the real tokens, divided by the dimension's own standard deviation, mean over the
    dimensions. LayerNorm has no such noise: its mean is the token's own.
    """
    random = np.random.default_rng(seed)
    real = x[keep].astype(np.float64)
    own = real.std(axis=0)
    sums = np.where(keep[..., None], x, 0).astype(np.float64).sum(axis=1)  # [B, D]
    counts = keep.sum(axis=1)
    rows = []
    for size in sizes:
        drawn = random.integers(0, len(x), (_DRAWS, size))
        means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)[:, None]  # [draws, D]
        relative = means.std(axis=0)[own > 0] / own[own > 0]
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
    rows, columns = (np.linspace(0, size - 1, min(size, _MOST_PAIRS)).astype(int) for size in before.shape)
    if len(columns) < 2:
        return float("nan")
    found = []
    # 32 rows say enough, each of columns ** 2 pairs; drawn, for in step with the texts they would miss each [CLS].
    for row in np.random.default_rng(0).permutation(rows)[:32]:
        lines = [values[row, columns] for values in (before, after)]
        signs = [np.sign(line[:, None] - line[None]) for line in lines]
        found.append((signs[0] * signs[1]).sum() / (len(columns) * (len(columns) - 1)))
    return float(np.mean(found))
