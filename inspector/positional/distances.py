"""Measures by how far apart two tokens stand: attention, products of positions, and the turn from p to p + k.

Shapes: T positions or tokens, D width, N heads of a stream.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.trace import Trace

Array = NDArray[np.float64]
_TURNED = 1e-3  # how far sin^2 + cos^2 of a pair of columns may be from 1


def attention_by_distance(
    trace: Trace, *, stream: str, reach: int, special: bool = True
) -> tuple[list[tuple[int, int]], Array]:
    """Mean attention of every head of a stream to the key k tokens from its query: (heads, float64 [N, 2 reach + 1]).

    heads: (layer, head) of each row. Columns: k from -reach (before the query) to reach; the mean is over the queries
    that have a token there, NaN where none has. special: False leaves special tokens out, as queries and as keys: they
    stand at one place in every text, and draw attention wherever the query stands. Map by map, block by block. Raises
    ValueError for a reach below 1, and for a stream between two texts.
    """
    if reach < 1 or stream == "cross":
        raise ValueError(f"reach is {reach}, stream {stream}: a distance is within one text, and at least 1")
    heads, rows, apart = [], [], np.arange(-reach, reach + 1)
    read = np.ones(len(trace.read_by(stream).tokens), bool) if special else ~np.array(trace.read_by(stream).special)
    meet = [read[: max(len(read) - abs(k), 0)] & read[abs(k) :] for k in apart]  # of the earlier one of two tokens
    pairs = np.array([both.sum() for both in meet])
    for site in trace.sites_of(stream):
        total = np.zeros((site.heads, 2 * reach + 1))
        for queries, weights in trace.blocks(layer=site.layer, stream=stream, call=site.call):
            at = np.arange(queries.start, queries.stop)
            for place, k in enumerate(apart):
                inside = (at + k >= 0) & (at + k < len(read)) & read[at]
                inside[inside] = read[at[inside] + k]
                total[:, place] += weights[:, np.flatnonzero(inside), at[inside] + k].sum(axis=1, dtype=np.float64)
        rows.append(np.divide(total, pairs, out=np.full_like(total, np.nan), where=pairs > 0))
        heads += [(site.layer, head) for head in range(site.heads)]
    return heads, np.concatenate(rows)


def by_distance(products: NDArray[np.floating[Any]]) -> pd.DataFrame:
    """Mean and spread of products [T, T] of two positions, by the distance k = column - row, both ways.

    Columns: distance (-(T - 1) to T - 1), mean, std (population), count.
    """
    products = np.asarray(products, dtype=np.float64)
    apart = np.arange(1 - len(products), len(products))
    diagonals = [np.diagonal(products, k) for k in apart]
    return pd.DataFrame(
        {
            "distance": apart,
            "mean": [diagonal.mean() for diagonal in diagonals],
            "std": [diagonal.std() for diagonal in diagonals],
            "count": [len(diagonal) for diagonal in diagonals],
        }
    )


def shift_residual(table: NDArray[np.floating[Any]], *, distance: int) -> float | None:
    """Turn every row p of a table [T, D] to p + `distance`, and say by how much it misses the row that stands there.

    Each pair of columns (sin w p, cos w p) is turned by the angle `distance` w, the same for every p (Vaswani et al.
    2017, section 3.5); computed in float64. Returns the largest miss over all rows and columns, of the largest entry;
    None for a table whose columns make no such pairs (a learned one). Raises ValueError where no two rows are that far
    apart.
    """
    _check(table, distance)
    pairs = _sines_and_cosines(np.asarray(table, dtype=np.float64))
    if pairs is None:
        return None
    sin, cos = pairs
    step = np.arctan2(sin[1] * cos[0] - cos[1] * sin[0], cos[1] * cos[0] + sin[1] * sin[0])
    turn_cos, turn_sin = np.cos(distance * step), np.sin(distance * step)
    turned_sin = sin[:-distance] * turn_cos + cos[:-distance] * turn_sin
    turned_cos = cos[:-distance] * turn_cos - sin[:-distance] * turn_sin
    missed = max(np.abs(turned_sin - sin[distance:]).max(), np.abs(turned_cos - cos[distance:]).max())
    return float(missed / np.abs(table).max())


def fitted_shift(table: NDArray[np.floating[Any]], *, distance: int) -> tuple[float, float]:
    """Fit a matrix M with row p M = row p + `distance` on the first half of a table [T, D], and try it on the second.

    Least squares in float64, the smallest M where several fit. Returns the root mean square of what M misses, over that
    of the rows, where it was fitted and where it was not. Raises ValueError where a half has no such row.
    """
    _check(table, 2 * distance)
    rows = np.asarray(table, dtype=np.float64)
    half = len(rows) // 2
    fitted, *_ = np.linalg.lstsq(rows[: half - distance], rows[distance:half], rcond=None)

    def missed(first: int, last: int) -> float:
        expected = rows[first + distance : last]
        missing = rows[first : last - distance] @ fitted - expected
        return float(np.sqrt((missing**2).mean() / (expected**2).mean()))

    return missed(0, half), missed(half, len(rows))


def spectrum(table: NDArray[np.floating[Any]]) -> pd.DataFrame:
    """Share each wavelength has in the columns of a table [T, D]: a row per wavelength from T to 2 tokens.

    Columns: wavelength (tokens), share (of the squares of all columns, each less its mean; they sum to 1, NaN for a
    table whose columns are constant). By the discrete Fourier transform along the positions.
    """
    rows = np.asarray(table, dtype=np.float64)
    power = np.abs(np.fft.rfft(rows - rows.mean(axis=0), axis=0)) ** 2
    if len(rows) % 2 == 0:
        power[-1] /= 2  # the other waves stand for their mirror images too
    each = power.sum(axis=1)[1:]
    total = each.sum()
    return pd.DataFrame(
        {
            "wavelength": len(rows) / np.arange(1, len(each) + 1),
            "share": each / total if total > 0 else np.full_like(each, np.nan),
        }
    )


def _check(table: NDArray[np.floating[Any]], distance: int) -> None:
    if not 0 < distance < len(table):
        raise ValueError(f"distance is {distance}; with {len(table)} positions it is 1 to {len(table) - 1}")


def _sines_and_cosines(table: Array) -> tuple[Array, Array] | None:
    """Find the columns of sines and the columns of their cosines: side by side, or in two halves."""
    half = table.shape[1] // 2
    for sin, cos in ((table[:, 0::2], table[:, 1::2]), (table[:, :half], table[:, half:])):
        if sin.shape == cos.shape and np.abs(sin**2 + cos**2 - 1).max() < _TURNED:
            return sin, cos
    return None
