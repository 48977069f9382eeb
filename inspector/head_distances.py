"""Distances between heads: every head of a text against every other, and a map of the heads in the plane.

Shapes: N heads, Q query positions, T key positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.information import entropy
from inspector.trace import Trace

Matrix = NDArray[np.float64]

WORK = 400_000_000  # logarithms, at most: about three seconds on one core


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
    def places(self) -> list[tuple[int, int, int]]:
        """(layer, head, call) of each head."""
        return [(*head, call) for head, call in zip(self.heads, self.calls or [0] * len(self.heads), strict=True)]


def measure(trace: Trace, *, stream: str, work: int = WORK) -> HeadDistances:
    """Compare every head of a stream with every other, in blocks of query rows.

    Memory is linear in the text for each head; the work is N^2 / 2 logarithms for each cell of a map. Where that is
    more than `work`, evenly spaced queries are compared instead of all.
    """
    sites = trace.sites_of(stream)
    heads = tuple((site.layer, head) for site in sites for head in range(site.heads))
    count, keys = len(sites[0].queries), len(sites[0].keys)
    pairs = len(heads) * (len(heads) - 1) // 2
    sampled = max(1, min(count, work // max(1, pairs * keys)))
    chosen = np.unique(np.linspace(0, count - 1, sampled).round().astype(int))
    total = np.zeros((len(heads), len(heads)))
    layers = [trace.blocks(layer=site.layer, stream=stream, call=site.call) for site in sites]
    for blocks in zip(*layers, strict=True):
        rows = blocks[0][0]
        inside = chosen[(chosen >= rows.start) & (chosen < rows.stop)] - rows.start
        for row in inside:
            total += _divergences(np.concatenate([block[:, row] for _, block in blocks]))
    calls = tuple(site.call for site in sites for _ in range(site.heads))
    return HeadDistances(heads, total / len(chosen), len(chosen), count, calls)


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


def _divergences(rows: NDArray[np.float32]) -> Matrix:
    """Jensen-Shannon divergences [N, N] of N rows [N, T]: H((p + q) / 2) - (H(p) + H(q)) / 2, H the entropy in nats."""
    p = rows.astype(np.float64)
    p /= p.sum(axis=-1, keepdims=True)
    p = np.maximum(p, np.finfo(np.float64).tiny)  # 0 ln 0 = 0
    own = entropy(p)
    found = np.zeros((len(p), len(p)))
    for head in range(len(p) - 1):
        others = slice(head + 1, None)
        middle = entropy((p[head] + p[others]) / 2)
        found[head, others] = found[others, head] = np.maximum(middle - (own[head] + own[others]) / 2, 0)
    return found
