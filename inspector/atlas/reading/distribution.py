"""One measure of one head over all texts of an atlas: mean, quartiles, histogram, and what the text's length does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.atlas import measures
from inspector.atlas.measures import FARTHEST, NAMES, Measure
from inspector.atlas.opened import Atlas


@dataclass(frozen=True, eq=False)
class MeasureDistribution:
    """A head's measure over the texts that have it.

    texts: how many. counts: [BINS], of the bins between `measure.edges`. smallest, largest, mean, deviation: exact;
    NaN where no text has the measure. correlation: Pearson's, with the text's length in tokens; NaN without spread.
    """

    measure: Measure
    texts: int
    counts: NDArray[np.int64]
    smallest: float
    largest: float
    mean: float
    deviation: float
    correlation: float

    def quantile(self, share: float) -> float:
        """Read the value that this share of the texts does not exceed, to within one bin; NaN without texts.

        Texts are taken to lie evenly within their bin, and between the smallest and the largest.
        """
        if not self.texts:
            return float("nan")
        bin, within = self._place(share)
        low, high = self.measure.edges[bin : bin + 2]
        return float(np.clip(low + within * (high - low), self.smallest, self.largest))

    @property
    def middle_half(self) -> tuple[float, float]:
        """The ends of the bins that hold the quartiles, between which at least half of the texts lie."""
        if not self.texts:
            return float("nan"), float("nan")
        (first, _), (last, _) = self._place(0.25), self._place(0.75)
        edges = self.measure.edges
        return max(float(edges[first]), self.smallest), min(float(edges[last + 1]), self.largest)

    @property
    def table(self) -> pd.DataFrame:
        """The bins from the first to the last that holds a text, a row each: from, to, texts."""
        held = np.flatnonzero(self.counts)
        bins = slice(held[0], held[-1] + 1) if len(held) else slice(0)
        edges = self.measure.edges
        return pd.DataFrame({"from": edges[:-1][bins], "to": edges[1:][bins], "texts": self.counts[bins]})

    def _place(self, share: float) -> tuple[int, float]:
        """Find the bin that this share of the texts reaches into, and how far, 0..1."""
        reached = np.concatenate([[0], self.counts.cumsum()])
        bin = int(np.clip(np.searchsorted(reached, share * self.texts, side="right") - 1, 0, len(self.counts) - 1))
        while not self.counts[bin]:  # the end of the last bin that holds a text
            bin -= 1
        return bin, min(float((share * self.texts - reached[bin]) / self.counts[bin]), 1.0)


def distribution(atlas: Atlas, measure: str, place: int) -> MeasureDistribution:
    """Read a head's measure from an atlas; ValueError for a measure that is none."""
    of_measure = measures.find(measure)
    at = NAMES.index(measure), place
    statistics = atlas.statistics
    texts = int(statistics.count[at])
    ends = (float(statistics.smallest[at]), float(statistics.largest[at])) if texts else (float("nan"), float("nan"))
    return MeasureDistribution(
        measure=of_measure,
        texts=texts,
        counts=statistics.histogram[at],
        smallest=ends[0],
        largest=ends[1],
        mean=float(statistics.mean[at]),
        deviation=float(statistics.deviation[at]),
        correlation=float(statistics.correlation[at]),
    )


def by_offset(atlas: Atlas, place: int) -> pd.DataFrame:
    """List a head's mean weight on the key at each offset from the query: offset (-16 to 16), weight."""
    return pd.DataFrame({"offset": range(-FARTHEST, FARTHEST + 1), "weight": atlas.offsets(place)})
