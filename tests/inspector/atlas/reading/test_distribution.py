"""A measure's histogram as it is read: the middle half by the bins' own edges, and a table that ends with the texts."""

from __future__ import annotations

import numpy as np

from inspector.atlas.measures import find
from inspector.atlas.reading.distribution import MeasureDistribution

SHARE = find("previous")


def distribution(counts: dict[int, int], *, smallest: float, largest: float) -> MeasureDistribution:
    bins = np.zeros(len(SHARE.edges) - 1, np.int64)
    for at, texts in counts.items():
        bins[at] = texts
    return MeasureDistribution(SHARE, int(bins.sum()), bins, smallest, largest, 0.5, 0.1, 0.0)


def test_the_middle_half_lies_between_edges_and_the_texts_own_ends() -> None:
    low, high = float(SHARE.edges[4]), float(SHARE.edges[11])
    wide = distribution({4: 10, 7: 5, 10: 10}, smallest=low - 1, largest=high + 1)
    assert wide.middle_half == (low, high)
    inside = float(np.mean(SHARE.edges[4:6])), float(np.mean(SHARE.edges[10:12]))
    narrow = distribution({4: 10, 7: 5, 10: 10}, smallest=inside[0], largest=inside[1])
    assert narrow.middle_half == inside


def test_the_table_has_the_bins_from_the_first_text_to_the_last() -> None:
    table = distribution({4: 3, 6: 1}, smallest=0.0, largest=1.0).table
    assert list(table["texts"]) == [3, 0, 1]
    assert list(table["from"]) == list(SHARE.edges[4:7])
    assert list(table["to"]) == list(SHARE.edges[5:8])
    assert distribution({}, smallest=0.0, largest=1.0).table.empty
