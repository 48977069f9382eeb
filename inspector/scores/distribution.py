"""The distribution of one head's q . k over the pairs of a text, beside the normal distribution.

A sum of many independent terms nears the normal (the central limit theorem); d_k terms of a trained head are neither
many nor independent. q . k is standardised: less its mean, over its standard deviation.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.scores.logits import cells
from inspector.scores.ranks import rows_of
from inspector.scores.saturation import Floats
from inspector.trace import AttentionRecord, recompute

BINS = 48
POINTS = 199  # quantiles
MOST = 2**20  # pairs that are sorted; of a longer text the rows that are read lie evenly over it
REACH = 6.0  # standard deviations to each side of the histogram
FAR = 2.0  # standard deviations; a normal has 4.55 % of its numbers farther out


@dataclass(frozen=True, eq=False)
class ProductDistribution:
    """Pairs of a head and their q . k, which no mask hides.

    pairs: how many were read. rows: of how many queries, and of: of how many all. mean, deviation, skewness and
    kurtosis (excess) of q . k. counts [B] in the bins between edges [B + 1], in standard deviations. normal, measured:
    the same quantiles of the standard normal and of the standardised q . k, [P]. far: the share of pairs more than 2
    standard deviations from the mean.
    """

    pairs: int
    rows: int
    of: int
    mean: float
    deviation: float
    skewness: float
    kurtosis: float
    counts: NDArray[np.int64]
    edges: Floats
    normal: Floats
    measured: Floats
    far: float

    @property
    def histogram(self) -> pd.DataFrame:
        """The bins, in standard deviations: columns low, high, pairs, density."""
        density = self.counts / (self.pairs * np.diff(self.edges))
        return pd.DataFrame({"low": self.edges[:-1], "high": self.edges[1:], "pairs": self.counts, "density": density})

    @property
    def quantiles(self) -> pd.DataFrame:
        """The quantiles of the standard normal and of q . k: columns normal, measured."""
        return pd.DataFrame({"normal": self.normal, "measured": self.measured})


def distribution(record: AttentionRecord) -> ProductDistribution:
    """Read the distribution of q . k of one head's record.

    Raises ValueError where queries and keys were not seen, or all pairs have the same q . k.
    """
    if not record.query.shape[-1]:
        raise ValueError("queries and keys of this model were not seen, only what its softmax gave")
    queries, keys = record.query.shape[1], record.key.shape[1]
    rows = rows_of(queries, max(MOST // keys, 1))
    values = _products(record, rows)
    deviation = float(values.std())
    if deviation <= 1e-7 * max(float(np.abs(values).max()), 1e-30):
        raise ValueError("all pairs have the same q · k here")
    mean = float(values.mean())
    standard = (values - mean) / deviation
    edges = np.linspace(-REACH, REACH, BINS + 1)
    at = (np.arange(POINTS) + 0.5) / POINTS
    return ProductDistribution(
        pairs=len(values),
        rows=len(rows),
        of=queries,
        mean=mean,
        deviation=deviation,
        skewness=float((standard**3).mean()),
        kurtosis=float((standard**4).mean() - 3),
        counts=np.histogram(standard, edges)[0],
        edges=edges,
        normal=np.array([NormalDist().inv_cdf(share) for share in at]),
        measured=np.quantile(standard, at),
        far=float((np.abs(standard) > FAR).mean()),
    )


def _products(record: AttentionRecord, rows: NDArray[np.intp]) -> Floats:
    """q . k of all pairs of the rows that no mask hides, float64 [N]."""
    products = []
    for block in recompute.bands(record):
        inside = rows[(block.queries.start <= rows) & (rows < block.queries.stop)]
        if not len(inside):
            continue
        dots = (record.query[0, inside].float() @ record.key[0, block.keys].float().mT).double().cpu().numpy()
        _, seen = cells(record, block)
        products.append(dots.ravel() if seen is None else dots[seen[0, inside - block.queries.start]])
    return np.concatenate(products)
