"""Distances between heads: all heads of a text among themselves, or the heads of two models; and a map of the heads.

```python
a, b = (inspector.record(models.load(name), text) for name in ("minilm", "mini-bert"))
found = inspector.head_distances.between(a, b)
inspector.head_distances.matches(found)  # a row per head of a: the head of b that attends most like it
```

Shapes: N heads (N_a and N_b of two recordings), Q query positions, T key positions, R rows of a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector import alignment, maps
from inspector.alignment import Pairing
from inspector.information import entropy, shares
from inspector.trace import AttentionSite, Trace

Matrix = NDArray[np.float64]
HeadPlace = tuple[int, int, int]  # layer, head, which attention of its layer

WORK = 400_000_000  # logarithms, at most: about two seconds on one core
_STEP = (
    2**17
)  # cells of all heads' rows at once, at most: single rows of a short text cost more in calls than in arithmetic


@dataclass(frozen=True)
class HeadDistances:
    """Distances between all heads of a stream.

    heads: (layer, head) of each, in the order of the stream's sites; calls: which attention of its layer each is of.
    values: [N, N], nats, symmetric, 0 on the diagonal: the Jensen-Shannon divergence of the two heads' rows (Lin 1991),
    mean over queries. Clark et al. 2019, section 6, take the sum over rows, which is
    this times `queries`. queries: how many rows were compared, of `of`.
    """

    heads: tuple[tuple[int, int], ...]
    values: Matrix
    queries: int
    of: int
    calls: tuple[int, ...] = ()

    @property
    def places(self) -> list[HeadPlace]:
        """(layer, head, call) of each head."""
        return [(*head, call) for head, call in zip(self.heads, self.calls or [0] * len(self.heads), strict=True)]


@dataclass(frozen=True)
class CrossDistances:
    """Distances between all heads of one recording and all heads of another, of the same text.

    a, b: (layer, head, call) of their heads, in the order of their sites. values: [N_a, N_b], nats: the Jensen-Shannon
    divergence of the two heads' rows (Lin 1991), mean over queries, 0 (equal) .. ln 2 (no key in common). Rows are
    between the tokens or words that both have, and sum to 1 over them. queries: how many rows were compared, of `of`.
    """

    a: tuple[HeadPlace, ...]
    b: tuple[HeadPlace, ...]
    values: Matrix
    queries: int
    of: int


def measure(trace: Trace, *, stream: str, work: int = WORK) -> HeadDistances:
    """Compare every head of a stream with every other, in blocks of query rows.

    Memory is linear in the text for each head; the work is N^2 / 2 logarithms for each cell of a map. Where that is
    more than `work`, evenly spaced queries are compared instead of all.
    """
    sites = trace.sites_of(stream)
    heads = tuple((site.layer, head) for site in sites for head in range(site.heads))
    count, keys = len(sites[0].queries), len(sites[0].keys)
    pairs = len(heads) * (len(heads) - 1) // 2
    chosen = _spaced(count, work // max(1, pairs * keys))
    rows = _rows(trace, sites, maps.arrange(trace, stream=stream), chosen=chosen)
    total = sum(map(_divergences, _steps(rows)), np.zeros((len(heads), len(heads))))
    calls = tuple(site.call for site in sites for _ in range(site.heads))
    return HeadDistances(heads, total / len(chosen), len(chosen), count, calls)


def between(
    a: Trace, b: Trace, *, streams: tuple[str, str] | None = None, pairing: Pairing | None = None, work: int = WORK
) -> CrossDistances:
    """Compare every head of one recording with every head of another recording of the same text.

    streams: whose heads, of `a` and of `b`; the first of each where None. pairing: the tokens or words to compare, as
    `alignment.pairing_of_one_text` matches them by default: tokens where both models cut the text alike, else words.
    Maps are computed in blocks of query rows. The work is N_a N_b logarithms for each cell of a map; where that is more
    than `work`, evenly spaced queries are compared instead of all.

    Raises ValueError for recordings of different texts.
    """
    of_a, of_b = streams or (a.sites[0].stream, b.sites[0].stream)
    if pairing is None:
        axes = (
            alignment.axes(trace, maps.arrange(trace, stream=stream), stream=stream)
            for trace, stream in ((a, of_a), (b, of_b))
        )
        pairing = alignment.pairing_of_one_text(*axes)
    sides = a.sites_of(of_a), b.sites_of(of_b)
    places = tuple(
        tuple((site.layer, head, site.call) for site in sites for head in range(site.heads)) for sites in sides
    )
    count, keys = len(pairing.queries.a.labels), len(pairing.keys.a.labels)
    chosen = _spaced(count, work // max(1, len(places[0]) * len(places[1]) * keys))
    streamed = (
        _steps(_rows(trace, sites, shown, chosen=chosen), heads=max(map(len, places)))
        for trace, sites, shown in zip((a, b), sides, pairing.shown, strict=True)
    )
    total = sum(map(_cross, *streamed), np.zeros((len(places[0]), len(places[1]))))
    return CrossDistances(places[0], places[1], total / len(chosen), len(chosen), count)


def matches(distances: CrossDistances | HeadDistances) -> pd.DataFrame:
    """Name the nearest head of b for each head of a, or the nearest other head of one recording; nearest pair first.

    distance: nats. mutual: whether the head of a is also the nearest to that of b. Ties go to the first head. Two heads
    of one recording that are nearest to each other make one row.
    Columns: a_layer, a_head, a_call, b_layer, b_head, b_call, distance, mutual.
    """
    among = isinstance(distances, HeadDistances)
    a, b = (distances.places, distances.places) if isinstance(distances, HeadDistances) else (distances.a, distances.b)
    apart = distances.values + np.diag(np.full(len(a), np.inf)) if among else distances.values
    nearest, back = apart.argmin(axis=1), apart.argmin(axis=0)
    rows = [
        (*a[row], *b[column], apart[row, column], bool(back[column] == row))
        for row, column in enumerate(nearest)
        if not (among and back[column] == row and column < row)
    ]
    columns = [f"{side}_{name}" for side in "ab" for name in ("layer", "head", "call")]
    table = pd.DataFrame(rows, columns=[*columns, "distance", "mutual"])
    return table.sort_values("distance", kind="stable", ignore_index=True)


def plane(distances: Matrix) -> tuple[Matrix, float]:
    """Points [N, 2] whose distances resemble those given, [N, N], and how much of them: share 0..1.

    Classical scaling (Torgerson 1952): the two largest eigenvectors of -1/2 J D^2 J, J = I - 1/N, each times the root
    of its eigenvalue; the share is theirs of all positive eigenvalues. An axis points to its largest coordinate.
    """
    centred = distances**2 - (distances**2).mean(axis=0)
    products = -(centred - centred.mean(axis=1, keepdims=True)) / 2
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    largest = np.zeros(2)
    largest[: min(2, len(values))] = np.maximum(values[::-1][:2], 0)
    axes = np.zeros((len(distances), 2))
    axes[:, : min(2, len(values))] = vectors[:, ::-1][:, :2]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), range(2)])
    positive = float(values[values > 0].sum())
    points: Matrix = axes * np.where(signs == 0, 1, signs) * np.sqrt(largest)
    return points, float(largest.sum()) / positive if positive else 1.0


def _spaced(count: int, most: int) -> NDArray[np.int64]:
    """Choose evenly spaced places of `count`: at most `most`, at least one."""
    chosen: NDArray[np.int64] = np.unique(np.linspace(0, count - 1, max(1, min(count, most))).round().astype(np.int64))
    return chosen


def _rows(
    trace: Trace, sites: Sequence[AttentionSite], shown: maps.Arrangement, *, chosen: NDArray[np.int64]
) -> Iterator[Matrix]:
    """Yield the rows of every head of the chosen query groups, group by group: float64 [N, keys], each sums to 1."""
    layers = [trace.blocks(layer=site.layer, stream=site.stream, call=site.call) for site in sites]
    arranged = layers if shown.is_plain(sites[0]) else [shown.blocks(blocks) for blocks in layers]
    for blocks in zip(*arranged, strict=True):
        groups = blocks[0][0]
        for row in chosen[(chosen >= groups.start) & (chosen < groups.stop)] - groups.start:
            yield shares(np.concatenate([block[:, row] for _, block in blocks]))
        if groups.stop > chosen[-1]:
            return


def _steps(rows: Iterator[Matrix], *, heads: int = 0) -> Iterator[Matrix]:
    """Put the rows of all heads, [N, T] each, together for as many queries as a step has room for: [N, R, T].

    heads: how many the step is shared by; N where it is less.
    """
    for first in rows:
        count = max(1, _STEP // (max(heads, len(first)) * first.shape[-1]))
        yield np.stack([first, *islice(rows, count - 1)], axis=1)


def _cross(p: Matrix, q: Matrix) -> Matrix:
    """Sum the Jensen-Shannon divergences of rows [N_a, R, T] and [N_b, R, T] over R: [N_a, N_b], see `_divergences`."""
    p, q = (np.maximum(rows, np.finfo(np.float64).tiny) for rows in (p, q))  # 0 ln 0 = 0
    of_p, of_q = entropy(p), entropy(q)
    divergences = np.empty((len(p), len(q)))
    for head in range(len(p)):
        mixed = entropy((p[head] + q) / 2)
        divergences[head] = np.maximum(mixed - (of_p[head] + of_q) / 2, 0).sum(axis=-1)
    return divergences


def _divergences(p: Matrix) -> Matrix:
    """Sum the Jensen-Shannon divergences of N rows [N, R, T] over R: [N, N].

    H((p + q) / 2) - (H(p) + H(q)) / 2, H the entropy in nats.
    """
    p = np.maximum(p, np.finfo(np.float64).tiny)  # 0 ln 0 = 0
    of_p = entropy(p)
    divergences = np.zeros((len(p), len(p)))
    for head in range(len(p) - 1):
        others = slice(head + 1, None)
        mixed = entropy((p[head] + p[others]) / 2)
        found = np.maximum(mixed - (of_p[head] + of_p[others]) / 2, 0).sum(axis=-1)
        divergences[head, others] = divergences[others, head] = found
    return divergences
