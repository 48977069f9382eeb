"""Maps made small by their largest cells, from parts that come one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_NARROW = 16  # columns of a tile, up to which they are compared one after the other


class MaxPool:
    """The largest weight in each tile of a map [H, Q, T]; no more than a part of the map is ever held.

    A tile is as small as leaves at most `side` of them in either direction, so that a single bright cell stays visible.
    cells: float32 [H, rows, cols], 0 where nothing was added.
    """

    def __init__(self, heads: int, queries: int, keys: int, *, side: int) -> None:
        if side < 1:
            raise ValueError(f"a picture of {side} cells a side shows nothing; give 1 or more")
        self.tall, self.wide = math.ceil(queries / side), math.ceil(keys / side)
        rows, cols = math.ceil(queries / self.tall), math.ceil(keys / self.wide)
        self.cells: NDArray[np.float32] = np.zeros((heads, rows, cols), np.float32)

    def add(self, part: NDArray[np.float32], *, queries: slice, keys: slice) -> None:
        """A part [H, queries, keys] of the map."""
        rows, first_rows = _tiles(queries, self.tall)
        cols, first_cols = _tiles(keys, self.wide)
        # Row by row numpy is ten times as fast as reduceat, which then has little left; so are columns of narrow tiles.
        tall = np.stack([np.fmax.reduce(tile, axis=1) for tile in np.split(part, first_rows[1:], axis=1)], axis=1)
        if self.wide <= _NARROW and keys.start % self.wide == 0:
            largest = tall[..., :: self.wide].copy()
            for column in range(1, self.wide):
                others = tall[..., column :: self.wide]
                np.fmax(largest[..., : others.shape[-1]], others, out=largest[..., : others.shape[-1]])
        else:
            largest = np.fmax.reduceat(tall, first_cols, axis=2)
        target = self.cells[:, rows, cols]
        np.fmax(target, largest, out=target)


def pool(weights: NDArray[np.float32], *, side: int) -> NDArray[np.float32]:
    """Pool whole maps [H, Q, T] to float32 [H, rows, cols], at most `side` cells in either direction."""
    heads, queries, keys = weights.shape
    pooled = MaxPool(heads, queries, keys, side=side)
    pooled.add(weights, queries=slice(0, queries), keys=slice(0, keys))
    return pooled.cells


def stacked(layers: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Stack layers [H, ...] to [L, H, ...]; those with fewer heads than another are filled up with zeros."""
    most = max(map(len, layers))
    filled = [np.concatenate([layer, np.zeros((most - len(layer), *layer.shape[1:]), layer.dtype)]) for layer in layers]
    return np.stack(filled if len({len(layer) for layer in layers}) > 1 else layers)


def _tiles(places: slice, size: int) -> tuple[slice, NDArray[np.intp]]:
    """The tiles of `size` places each that these places fall into, and where in them each tile begins."""
    first, last = places.start // size, (places.stop - 1) // size
    begins = np.maximum(np.arange(first, last + 1) * size - places.start, 0)
    return slice(first, last + 1), begins
