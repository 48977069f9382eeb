"""Pairs that are compared: where two maps differ most, and the nearest heads of two recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inspector import chance, head_distances
from inspector.head_distances import HeadDistances
from inspector.information import shares
from inspector.text import Named, named

if TYPE_CHECKING:
    from inspector.head_distances import CrossDistances, HeadPlace
    from inspector.trace import Array

_ROUNDING = 1e-9  # nats: distances that differ by less are equal


@dataclass(frozen=True)
class MapPair:
    """Two maps between the same tokens or words.

    moved: the share of a query's weight that lies on other keys, 1/2 sum_j |a - b| of rows that sum to 1, mean over
    queries, 0..1; queries without weight on these keys in either are left out. query, key: the cell in which the maps
    differ most, at the row and the column `cell`, with its weights `a` and `b`, among those in which one of them is
    beyond chance, where there are such.
    by_chance: there are none: each map spreads its weights as random weights would.
    """

    moved: float
    query: Named
    key: Named
    cell: tuple[int, int]
    a: float
    b: float
    by_chance: bool

    @property
    def equal(self) -> bool:
        """True if the two maps are equal cell by cell."""
        return self.a == self.b


@dataclass(frozen=True)
class HeadMatch:
    """Two heads and how far apart they are, in nats."""

    a: HeadPlace
    b: HeadPlace
    distance: float


@dataclass(frozen=True)
class PairedHeads:
    """Heads of two recordings, or of one, by how alike they attend.

    best: the nearest pair. pairs: how many there are, `nearest` how many of them are as near as the best but for
    rounding, `median` the median of their distances, nats. mutual: how many
    heads of a have a partner: each is the nearest of the other. count: the heads of a. among: True for heads of one
    recording, which are paired with each other and never with themselves.
    """

    best: HeadMatch
    pairs: int
    nearest: int
    median: float
    mutual: int
    count: int
    among: bool


def pair(a: Array, b: Array, *, queries: Sequence[str], keys: Sequence[str], width: int = 0) -> MapPair:
    """Read two maps [queries, keys] between the same tokens or words; width: of the heads, see `chance.beyond`."""
    told = chance.beyond(a, width=width) | chance.beyond(b, width=width)
    apart = np.abs(a - b)
    among = np.where(told, apart, 0)
    row, column = np.unravel_index((among if among.any() else apart).argmax(), a.shape)
    both = (a.sum(axis=-1) > 0) & (b.sum(axis=-1) > 0)
    moved = np.abs(shares(a[both]) - shares(b[both])).sum(axis=-1).mean() / 2 if both.any() else 1.0
    cell = int(row), int(column)
    query, key = named(queries, cell[0]), named(keys, cell[1])
    return MapPair(float(moved), query, key, cell, float(a[cell]), float(b[cell]), by_chance=not told.any())


def heads(distances: CrossDistances | HeadDistances) -> PairedHeads:
    """Read the distances between the heads of two recordings, or of one, which has two or more."""
    table = head_distances.matches(distances)
    first = table.iloc[0]
    a, b = (tuple(int(first[f"{side}_{name}"]) for name in ("layer", "head", "call")) for side in "ab")
    among = isinstance(distances, HeadDistances)
    every = distances.values[np.triu_indices(len(distances.values), 1)] if among else distances.values
    best, median = (
        value if value > _ROUNDING else 0.0 for value in (float(first["distance"]), float(np.median(every)))
    )
    return PairedHeads(
        best=HeadMatch((a[0], a[1], a[2]), (b[0], b[1], b[2]), best),
        pairs=every.size,
        nearest=int((every <= best + _ROUNDING).sum()),
        median=median,
        mutual=int(table["mutual"].sum()) * (2 if among else 1),
        count=len(distances.values),
        among=among,
    )
