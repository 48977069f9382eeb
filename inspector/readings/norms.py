"""Readings of the page LayerNorm: which norms there are, the token that stands out, what one norm has learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from inspector.normalization import OUTLIER_SIGMAS

if TYPE_CHECKING:
    import pandas as pd

    from inspector.trace import NormRecord

Size = Literal["std", "rms"]


@dataclass(frozen=True)
class PlaceInStream:
    """The place of a norm in its stream: its layer, part and placement, as in `NormRecord`.

    layer: None below and above the layers.
    """

    layer: int | None
    part: str
    placement: str


@dataclass(frozen=True)
class Kinds:
    """The norms of a stream, counted.

    formulas: how many are a "layer" (LayerNorm) and how many an "rms" (RMSNorm); placements: how many of those in the
    layers stand "pre", "post", "output" or "inside"; outside: the parts of those below and above the layers.
    """

    formulas: Mapping[str, int]
    placements: Mapping[str, int]
    outside: tuple[str, ...]


@dataclass(frozen=True)
class Widest:
    """The token whose vector is largest before a norm.

    size: "std" or "rms", what is measured; before, after: the token's, around the norm; middle: the median of the other
    tokens before the same norm, None where there is no other.
    """

    place: PlaceInStream
    size: Size
    position: int
    token: str
    before: float
    after: float
    middle: float | None


@dataclass(frozen=True)
class Way:
    """One token's way through the norms: its smallest and largest size before a norm, and after."""

    token: str
    size: Size
    smallest: tuple[float, PlaceInStream]
    largest: tuple[float, PlaceInStream]
    after: tuple[float, float]


@dataclass(frozen=True)
class Learned:
    """The learned numbers of a norm, gamma or beta: their mean and deviation, and the dimension farthest from the mean.

    deviations: how many standard deviations it is away, 0 where all are equal; outliers: dimensions more than
    `normalization.OUTLIER_SIGMAS` away.
    """

    name: Literal["gamma", "beta"]
    width: int
    mean: float
    deviation: float
    farthest: int
    value: float
    deviations: float
    outliers: int


def kinds(norms: Sequence[NormRecord]) -> Kinds:
    """Count the norms of a stream by their formula and by their place."""
    inside = [norm for norm in norms if norm.layer is not None]
    return Kinds(
        formulas=dict(Counter(norm.kind for norm in norms)),
        placements=dict(Counter(norm.placement for norm in inside)),
        outside=tuple(norm.part for norm in norms if norm.layer is None),
    )


def size(norms: Sequence[NormRecord]) -> Size:
    """Name what the norms divide by: "rms" where all are RMSNorms, else "std"."""
    return "rms" if all(norm.kind == "rms" for norm in norms) else "std"


def widest(statistics: pd.DataFrame, norms: Mapping[int, PlaceInStream], *, size: Size) -> Widest:
    """Find the largest vector before a norm; statistics: of `normalization.statistics`, norms: the place of each."""
    row = statistics.loc[statistics[f"{size}_before"].idxmax()]
    others = statistics[(statistics["norm"] == row["norm"]) & (statistics["position"] != row["position"])]
    return Widest(
        place=norms[int(row["norm"])],
        size=size,
        position=int(row["position"]),
        token=row["token"],
        before=float(row[f"{size}_before"]),
        after=float(row[f"{size}_after"]),
        middle=float(others[f"{size}_before"].median()) if len(others) else None,
    )


def way(statistics: pd.DataFrame, norms: Mapping[int, PlaceInStream], *, position: int, size: Size) -> Way:
    """Follow a token through the norms."""
    rows = statistics[statistics["position"] == position]
    before, after = rows[f"{size}_before"], rows[f"{size}_after"]

    def at(index: int) -> tuple[float, PlaceInStream]:
        return float(before[index]), norms[int(rows["norm"][index])]

    return Way(
        token=rows["token"].iloc[0],
        size=size,
        smallest=at(before.idxmin()),
        largest=at(before.idxmax()),
        after=(float(after.min()), float(after.max())),
    )


def learned(parameters: pd.DataFrame, *, norm: int) -> list[Learned]:
    """Describe gamma and beta of one norm, those that it has; parameters: of `normalization.parameters`."""
    rows = parameters[parameters["norm"] == norm]
    found = []
    for name in ("gamma", "beta"):
        values = rows[name].to_numpy(dtype=float)
        if np.isnan(values).any():
            continue
        mean, deviation = float(values.mean()), float(values.std())
        if values.min() == values.max():  # the sums above round
            mean, deviation = float(values[0]), 0.0
        away = np.abs(values - mean) / deviation if deviation else np.zeros_like(values)
        far = int(away.argmax())
        outliers = int((away > OUTLIER_SIGMAS).sum())
        found.append(Learned(name, len(values), mean, deviation, far, float(values[far]), float(away[far]), outliers))
    return found


def place(norm: NormRecord) -> PlaceInStream:
    """Name the place of a norm."""
    return PlaceInStream(norm.layer, norm.part, norm.placement)
