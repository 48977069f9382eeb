"""Readings of the page Scores: how q . k varies against d_k, and which rows its softmax leaves to one key."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Place:
    """A head: the model's layer, which of its attentions, and the head."""

    layer: int
    call: int
    head: int


@dataclass(frozen=True)
class Every:
    """All heads of a stream. d_k: the width of a head, 0 where queries and keys were not seen.

    low, median, high: of Var(q . k) / d_k over the heads. scaled: the range of the variance after the scale, None
    where the heads are not compared by a scaled dot product. root: True where the scale is 1 / sqrt(d_k).
    saturated: heads in which one key has over 0.9 of the weight in more than half of the rows; fullest: the head with
    the largest share of such rows, and that share, NaN where no query has a choice.
    """

    heads: int
    d_k: int
    low: float
    median: float
    high: float
    scaled: tuple[float, float] | None
    root: bool
    saturated: int
    fullest: Place
    share: float


def every(table: pd.DataFrame) -> Every:
    """Read the numbers of all heads of a stream; table: of `scores.measure`."""
    ratio, shares = table["ratio"].to_numpy(), table["saturated"].to_numpy()
    width, scaled = int(table["d_k"].iloc[0]), table["scaled"].to_numpy()
    seen = bool(np.isfinite(ratio).all())
    root = bool(np.allclose(table["scale"], 1 / math.sqrt(max(width, 1)), rtol=1e-6))
    most = int(np.nanargmax(shares)) if np.isfinite(shares).any() else 0
    return Every(
        len(table),
        width if seen else 0,
        *((float(ratio.min()), float(np.median(ratio)), float(ratio.max())) if seen else (math.nan,) * 3),
        (float(scaled.min()), float(scaled.max())) if np.isfinite(scaled).all() else None,
        root,
        int((shares > 0.5).sum()),
        place(table.iloc[most]),
        float(shares[most]),
    )


def place(row: pd.Series) -> Place:
    """Name the head of a row of a table."""
    return Place(int(row["layer"]), int(row.get("call", 0)), int(row["head"]))
