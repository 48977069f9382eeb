"""Two maps, or two recordings, beside each other: which tokens agree, and what differs there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
import pandas as pd

from inspector import maps
from inspector.heads import with_call
from inspector.information import entropy, jensen_shannon, shares
from inspector.maps import Arrangement, Groups
from inspector.trace import Array, AttentionSite, Trace, recompute
from models.attention import row_blocks


@dataclass(frozen=True)
class Difference:
    """The signed difference a - b of two maps, between the tokens or words that both have, and numbers of it.

    queries, keys: those tokens. values: [queries, keys]. largest: of abs(a - b).
    The numbers below are means over queries. Entropy and divergence are of rows renormalised to the shared keys:
    jensen_shannon: the Jensen-Shannon divergence in nats (0 for equal rows, at most ln 2; Lin 1991).
    spearman: the rank correlation of a row's cells, -1 .. 1 (Spearman 1904), those left out that are 0 in both, as what
        a causal mask hides; equal weights share their mean rank. Rows in which either map has one weight everywhere
        have no ranks and are left out; NaN where no row is left.
    entropy_change: entropy -sum_j A ln A of a less that of b, nats.
    """

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    values: Array
    jensen_shannon: float
    spearman: float
    entropy_change: float
    largest: float


@dataclass(frozen=True)
class SignedDifference:
    """The signed difference a - b of two maps whose weights are no shares of a row; queries, keys, values as above.

    cosine: of the two maps as vectors, -1 .. 1, whatever their scales; NaN where one of them is 0 everywhere. largest:
    of abs(a - b), at the row and the column `cell`, where the maps have the weights `a` and `b`.
    """

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    values: Array
    cosine: float
    largest: float
    cell: tuple[int, int]
    a: float
    b: float


def shared(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Positions (in a, in b) of the tokens that agree, in order (Ratcliff and Obershelp's matching blocks)."""
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return [(block.a + step, block.b + step) for block in blocks for step in range(block.size)]


def subtract(a: Array, b: Array, *, queries: tuple[str, ...], keys: tuple[str, ...]) -> Difference:
    """Two maps [queries, keys] between the same tokens or words. Raises ValueError where their shapes differ."""
    _check_shapes(a, b, queries, keys)
    values: Array = a - b
    p, q = shares(a), shares(b)
    ranked = _rank_correlation(a, b)
    return Difference(
        queries=queries,
        keys=keys,
        values=values,
        jensen_shannon=float(jensen_shannon(p, q).mean()),
        spearman=float(np.nanmean(ranked)) if np.isfinite(ranked).any() else math.nan,
        entropy_change=float((entropy(p) - entropy(q)).mean()),
        largest=float(np.abs(values).max()),
    )


def subtract_signed(a: Array, b: Array, *, queries: tuple[str, ...], keys: tuple[str, ...]) -> SignedDifference:
    """Two maps [queries, keys] of heads without softmax attention, between the same tokens or words.

    Raises ValueError where their shapes differ.
    """
    _check_shapes(a, b, queries, keys)
    values: Array = a - b
    row, column = (int(at) for at in np.unravel_index(np.abs(values).argmax(), values.shape))
    first, second = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return SignedDifference(
        queries,
        keys,
        values,
        float(first @ second) / lengths if lengths else math.nan,
        float(np.abs(values).max()),
        (row, column),
        float(a[row, column]),
        float(b[row, column]),
    )


def _check_shapes(a: Array, b: Array, queries: Sequence[str], keys: Sequence[str]) -> None:
    if not a.shape == b.shape == (len(queries), len(keys)):
        raise ValueError(
            f"maps of shapes {a.shape} and {b.shape} between {len(queries)} queries and {len(keys)} keys cannot be "
            "subtracted; give two maps of the same tokens"
        )


def changed_heads(
    before: Trace,
    after: Trace,
    *,
    queries: Sequence[int] | None = None,
    stream: str | None = None,
    shown: tuple[Arrangement, Arrangement] | None = None,
) -> pd.DataFrame:
    """Measure how far every head's attention changed in the second recording of a text, the most changed head first.

    Each number is a mean over the rows of `queries`, by default all:
    jensen_shannon: of the row before and after, nats, 0 (equal) .. ln 2 (no key in common) (Lin 1991).
    total_variation: 1/2 sum_j |after - before|, the share of the weight that went to other keys, 0..1.

    Where a layer attends more than once there is a column "call", as in `heads.measure`.

    stream: whose heads; may be left out where there is one. shown: how tokens are put together before and after, where
    the two texts are cut into different numbers of them; `queries` then count groups.

    Raises ValueError where the traces are of different lengths or models.
    """
    sides = before.sites, after.sites
    if [(site.stream, site.layer, site.call, site.heads) for site in sides[0]] != [
        (site.stream, site.layer, site.call, site.heads) for site in sides[1]
    ] or (shown is None and len(before.tokens) != len(after.tokens)):
        raise ValueError(
            f"traces of {before.model} with {len(before.tokens)} tokens and {after.model} with {len(after.tokens)} "
            "cannot be compared head by head; record one model on texts of one length"
        )
    tables, arranged = [], tuple(zip((before, after), shown or (None, None), strict=True))
    for site in before.sites:
        if stream not in (None, site.stream):
            continue
        count = len(site.queries) if shown is None else len(shown[0].queries.members)
        rows = np.arange(count)[slice(None) if queries is None else list(queries)]
        divergence, variation = np.empty((2, site.heads, len(rows)))
        # In float64 the temporaries of whole maps are new pages for every layer, which take longer than the arithmetic.
        for block in row_blocks(count, len(site.keys)):
            inside = (block.start <= rows) & (rows < block.stop)
            if inside.any():
                read = (_weights(trace, site, side, queries=block) for trace, side in arranged)
                p, q = (shares(weights[:, rows[inside] - block.start]) for weights in read)
                divergence[:, inside] = jensen_shannon(p, q)
                variation[:, inside] = np.abs(p - q).sum(axis=-1)
        table = pd.DataFrame(
            {
                "stream": site.stream,
                "layer": site.layer,
                "head": range(site.heads),
                "jensen_shannon": divergence.mean(axis=-1),
                "total_variation": variation.mean(axis=-1) / 2,
            }
        )
        tables.append(with_call(table, site, before.sites))
    every = pd.concat(tables, ignore_index=True)
    return every.sort_values("jensen_shannon", ascending=False, kind="stable", ignore_index=True)


def moved(before: Trace, after: Trace, *, groups: tuple[Groups, Groups] | None = None) -> np.ndarray:
    """Measure how far each token's last hidden state turned: 1 - cosine, [T], 0 (same direction) .. 2 (opposite).

    groups: tokens that are put together before and after; the mean of their states is compared, [groups].
    """
    a, b = (trace.output.astype(np.float64) for trace in (before, after))
    if groups is not None:
        a, b = groups[0].mean(a), groups[1].mean(b)
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    cosine: np.ndarray = (a * b).sum(axis=-1) / lengths
    turned: np.ndarray = np.maximum(1 - cosine, 0.0)  # only rounding takes it below 0
    return turned


def _weights(trace: Trace, site: AttentionSite, shown: Arrangement | None, *, queries: slice) -> Array:
    """Compute some rows of all maps of a call, [H, queries, keys], between groups where the tokens are arranged."""
    record = trace.record_of(site.layer, site.stream, call=site.call)

    def read(tokens: slice) -> Array:
        if tokens == slice(0, len(site.queries)):  # a short text's: kept, for the page draws it next
            return trace.attention(layer=site.layer, stream=site.stream, call=site.call)
        return recompute.window(record, "weights", queries=tokens, keys=slice(0, len(record.site.keys)))

    return read(queries) if shown is None else maps.rows(shown, read, queries=queries)[1]


def _rank_correlation(a: Array, b: Array) -> np.ndarray:
    """Pearson's correlation of the ranks of each row's cells; NaN where a row of either is constant.

    Cells that are 0 in both, such as what a causal mask hides, have no rank: they would agree in any two heads.
    """
    hidden = (a == 0) & (b == 0)
    x, y = (np.ma.array(pd.DataFrame(np.where(hidden, np.nan, rows)).rank(axis=1), mask=hidden) for rows in (a, b))
    x, y = (ranks - ranks.mean(axis=1, keepdims=True) for ranks in (x, y))
    spread = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)).filled(0)
    products = (x * y).sum(axis=1).filled(0)
    correlation: np.ndarray = np.divide(products, spread, out=np.full(len(a), np.nan), where=spread > 0)
    return correlation
