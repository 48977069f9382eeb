"""Readings of the page Scores: how q . k varies against d_k, which rows its softmax leaves to one key, and how queries
and keys are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from inspector.interventions import FixedMixing
    from inspector.scores import Distribution, Projections, Spectrum

NORMAL = 0.25  # excess kurtosis, to either side, within which a distribution is told as near the normal in this
SYMMETRIC = 1e-6  # asymmetry, below which only rounding is left


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
    where the heads are not compared by a scaled dot product. root: True where the scale is 1 / sqrt(d_k); unscaled: 1.
    fullest: the first head with the largest share of rows in which one key has over 0.9 of the weight; fullest_heads:
    how many heads have that share; share: NaN where no query has a choice.
    """

    heads: int
    d_k: int
    low: float
    median: float
    high: float
    scaled: tuple[float, float] | None
    root: bool
    unscaled: bool
    fullest_heads: int
    fullest: Place
    share: float


@dataclass(frozen=True)
class One:
    """A head's q . k on a text, before the scale and after.

    scale: the factor on q . k, None where the head is not compared by a scaled dot product; root: True for 1/sqrt(d_k).
    kurtosis: excess. far: share of pairs over 2 standard deviations from the mean. low, high: of the softmax's input.
    """

    place: Place
    d_k: int
    ratio: float
    scale: float | None
    scaled: float
    root: bool
    kurtosis: float
    far: float
    low: float
    high: float


@dataclass(frozen=True)
class Sides:
    """The symmetry of a head: asymmetry of its scores and of its weights, and its diagonal.

    weights: None where A is too large to be held beside its transpose. causal: True where a mask hides later tokens.
    diagonal, peak, even: as in `scores.symmetry.measure`; NaN where no query has a choice.
    """

    place: Place
    scores: float
    weights: float | None
    causal: bool
    diagonal: float
    peak: float
    even: float


@dataclass(frozen=True)
class Product:
    """W_Q W_K^T of a head, and Q K^T on the text.

    width: D. d_k: the head's. rank, effective, energy, symmetric, positive: as in `Spectrum`. on_text: the rank of
    Q K^T, tokens: the text's length. values: ||W_K - W_V|| / ||W_K||, None where it is not known. turned: by position.
    """

    width: int
    d_k: int
    rank: int
    effective: float
    energy: int
    symmetric: float
    positive: int
    on_text: int
    tokens: int
    values: float | None
    turned: bool


@dataclass(frozen=True)
class Angles:
    """Rank correlations of q . k with cosine and with nearness: medians over the heads that have any, and one head's.

    heads: how many have. lowest: the head whose order differs most from that by distance, and its correlation. spread,
    longest: of the open head's key lengths: standard deviation over mean, the longest over the shortest.
    """

    heads: int
    cosine: float
    distance: float
    lowest: Place
    least: float
    place: Place
    own_cosine: float
    own_distance: float
    spread: float
    longest: float


@dataclass(frozen=True)
class Fixed:
    """The largest change of a weight of a head by another text of its length, and over all heads.

    tokens: n, and parameters: the n x n weights of a fully connected layer over them.
    """

    place: Place
    largest: float
    most: Place
    over_all: float
    tokens: int
    parameters: int


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
        bool((table["scale"] == 1).all()),
        int((shares == shares[most]).sum()),
        place(table.iloc[most]),
        float(shares[most]),
    )


def place(row: pd.Series) -> Place:
    """Name the head of a row of a table."""
    return Place(int(row["layer"]), int(row.get("call", 0)), int(row["head"]))


def one(row: pd.Series, found: Distribution) -> One:
    """Read one head; row: of `scores.measure`, found: its distribution."""
    width, scale = int(row["d_k"]), float(row["scale"])
    known = math.isfinite(scale)
    return One(
        place(row),
        width,
        float(row["ratio"]),
        scale if known else None,
        float(row["scaled"]),
        known and math.isclose(scale, width**-0.5, rel_tol=1e-6),
        found.kurtosis,
        found.far,
        float(row["low"]),
        float(row["high"]),
    )


def sides(row: pd.Series, *, causal: bool) -> Sides:
    """Read the symmetry of one head; row: of `scores.symmetry.measure`."""
    weights = float(row["weights"])
    return Sides(
        place(row),
        float(row["scores"]),
        weights if math.isfinite(weights) else None,
        causal,
        float(row["diagonal"]),
        float(row["peak"]),
        float(row["even"]),
    )


def product(found: Projections, spectrum: Spectrum, on_text: Spectrum, *, head: int, tokens: int) -> Product:
    """Read the spectrum of W_Q W_K^T of a head beside that of Q K^T on a text."""
    return Product(
        found.query.shape[1],
        found.query.shape[2],
        spectrum.rank,
        spectrum.effective,
        spectrum.energy,
        spectrum.symmetric,
        spectrum.positive,
        on_text.rank,
        tokens,
        found.key_from_value(head),
        found.turned,
    )


def angles(table: pd.DataFrame, row: pd.Series) -> Angles | None:
    """Read the rank correlations of all heads and of one, None where no head has any; table: of `ranks.measure`."""
    known = table.dropna(subset=["cosine", "distance"])
    if known.empty:
        return None
    lowest = known.loc[known["distance"].idxmin()]
    return Angles(
        len(known),
        float(known["cosine"].median()),
        float(known["distance"].median()),
        place(lowest),
        float(lowest["distance"]),
        place(row),
        float(row["cosine"]),
        float(row["distance"]),
        float(row["key_spread"]),
        float(row["longest"]),
    )


def fixed(found: FixedMixing, row: pd.Series) -> Fixed:
    """Read the change of the weights by another text; row: the open head's of the table."""
    most = found.table.loc[found.table["largest"].idxmax()]
    return Fixed(place(row), float(row["largest"]), place(most), float(most["largest"]), found.tokens, found.parameters)
