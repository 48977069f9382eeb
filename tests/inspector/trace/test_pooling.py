from __future__ import annotations

import math

import numpy as np
import pytest

from inspector.trace.pooling import MaxPool, pool
from tests.inspector.components.messages import attention


def by_loops(weights: np.ndarray, rows: int, cols: int) -> np.ndarray:
    """Max over ceil-sized tiles, by loops."""
    tall, wide = math.ceil(weights.shape[0] / rows), math.ceil(weights.shape[1] / cols)
    tiles = [
        [weights[i : i + tall, j : j + wide].max() for j in range(0, weights.shape[1], wide)]
        for i in range(0, weights.shape[0], tall)
    ]
    return np.array(tiles, np.float64)


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (14, 14), (96, 96), (97, 97), (200, 31), (5, 300)])
def test_a_cell_is_the_largest_weight_of_its_tile(queries, keys):
    weights = attention(1, 3, queries, keys)[0]
    cells = pool(weights, side=96)
    rows, cols = cells.shape[1:]
    assert max(rows, cols) <= 96
    for pooled, whole in zip(cells, weights, strict=True):
        np.testing.assert_array_equal(pooled, by_loops(whole, rows, cols))


@pytest.mark.parametrize("side", [96, 10])  # tiles of 3 columns, and of 25
@pytest.mark.parametrize("step", [60, 64, 70])  # some parts begin with a tile, some inside
def test_parts_of_the_keys_give_the_same_as_the_whole(side, step):
    weights = attention(1, 3, 250, 250)[0]
    by_parts = MaxPool(3, 250, 250, side=side)
    for start in range(0, 250, step):
        keys = slice(start, min(start + step, 250))
        by_parts.add(weights[:, :, keys], queries=slice(0, 250), keys=keys)
    np.testing.assert_array_equal(by_parts.cells, pool(weights, side=side))


def test_parts_give_the_same_as_the_whole():
    weights = attention(1, 3, 250, 250)[0]
    by_parts = MaxPool(3, 250, 250, side=96)
    for start in range(0, 250, 64):  # no multiple of the tile's 3 cells
        rows = slice(start, min(start + 64, 250))
        by_parts.add(weights[:, rows], queries=rows, keys=slice(0, 250))
    np.testing.assert_array_equal(by_parts.cells, pool(weights, side=96))


def test_a_single_bright_cell_in_the_last_corner_stays_visible():
    weights = np.zeros((1, 509, 509), np.float32)
    weights[0, 508, 508] = 1
    cells = pool(weights, side=96)
    assert cells[0, -1, -1] == 1
    assert np.count_nonzero(cells) == 1


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="broadcast"):
        MaxPool(3, 4, 4, side=96).add(np.zeros((2, 4, 4), np.float32), queries=slice(0, 4), keys=slice(0, 4))
    with pytest.raises(ValueError, match="0 cells a side"):
        pool(np.zeros((1, 4, 4), np.float32), side=0)
