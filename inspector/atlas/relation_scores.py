"""Scores each head on each relation beside the best fixed offset, with intervals (Clark et al. 2019, section 4.2).

The best of many is best by luck too: the best head and the best offset are chosen on one half of the sentences and
scored on the other.

Shapes: N heads of the model, S pairs of a relation and a direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.atlas.relations import DIRECTIONS, OFFSETS, RelationCounts

Float64Array = NDArray[np.float64]

MINIMUM = 25
"""Occurrences in each half; an interval around 0.5 is 0.36 wide then."""
_QUANTILE = 1.959963984540054  # of the normal distribution at 0.975: intervals of 95 %
_HEAD = ["stream", "layer", "call", "head"]
_NEAREST_FIRST = np.array(sorted(range(len(OFFSETS)), key=lambda place: (abs(OFFSETS[place]), OFFSETS[place]))[1:])


def scores(counts: RelationCounts, heads: pd.DataFrame, *, minimum: int = MINIMUM) -> pd.DataFrame:
    """Score every head on every relation that is there `minimum` times in each half, in each direction.

    heads: a row of stream, layer, call and head for each of the N heads, in their order. Relations belong to a text
    that is read, so in an encoder-decoder the encoder's heads alone have scores. Returns a row per relation, direction
    and head:

    chosen_share, chosen_total: in the half that chooses, how often the head finds the governor, share 0..1, and how
        often the relation is there.
    share, correct, total: in the half that scores, correct / total.
    low, high: the interval of `share`, 95 % (Wilson 1927).
    baseline_offset: units from the dependent to the guess that is right most often in the half that chooses; the
        nearest of equals, and of -1 and 1 the first.
    baseline_share, baseline_correct, baseline_low, baseline_high: of this offset in the half that scores.

    Raises ValueError for a table of another number of heads, and for a minimum below 1.
    """
    if len(heads) != counts.heads:
        raise ValueError(
            f"the counts are of {counts.heads} heads, and the table has {len(heads)}; give one row per head"
        )
    if minimum < 1:
        raise ValueError(f"minimum is {minimum}; a share takes at least 1 occurrence")
    streams = heads["stream"].to_numpy()
    read = streams == ("encoder" if "encoder" in streams else "decoder")  # [N]
    heads = heads[read]
    relations, directions = np.nonzero(counts.totals.min(axis=-1) >= minimum)  # [S] each
    totals = counts.totals[relations, directions]  # [S, halves]
    hits = counts.hits[relations, directions][..., read]  # [S, halves, heads]
    offset_hits = counts.offset_hits[relations, directions]  # [S, halves, OFFSETS]
    offsets = _NEAREST_FIRST[offset_hits[:, 0, _NEAREST_FIRST].argmax(axis=-1)]
    baseline_hits = offset_hits[np.arange(len(offsets)), 1, offsets]

    def each(values: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(values, len(heads))

    chosen_total, total = each(totals[:, 0]), each(totals[:, 1])
    correct, baseline_correct = hits[:, 1].ravel(), each(baseline_hits)
    low, high = wilson(correct, total)
    baseline_low, baseline_high = wilson(baseline_correct, total)
    return pd.DataFrame(
        {
            "relation": each(np.array(counts.relations, object)[relations]),
            "direction": each(np.array(DIRECTIONS, object)[directions]),
            **{name: np.tile(heads[name].to_numpy(), len(offsets)) for name in _HEAD},
            "chosen_share": hits[:, 0].ravel() / chosen_total,
            "chosen_total": chosen_total,
            "share": correct / total,
            "correct": correct,
            "total": total,
            "low": low,
            "high": high,
            "baseline_offset": each(np.array(OFFSETS)[offsets]),
            "baseline_share": baseline_correct / total,
            "baseline_correct": baseline_correct,
            "baseline_low": baseline_low,
            "baseline_high": baseline_high,
        }
    )


def scored(counts: RelationCounts, *, minimum: int = MINIMUM) -> list[tuple[str, str]]:
    """List the relations and directions that are there `minimum` times in each half."""
    relations, directions = np.nonzero(counts.totals.min(axis=-1) >= minimum)
    return [(counts.relations[row], DIRECTIONS[way]) for row, way in zip(relations, directions, strict=True)]


def best(scores: pd.DataFrame) -> pd.DataFrame:
    """Keep of each relation and direction the head that is best in the half that chooses; the first of equals."""
    rows = scores.groupby(["relation", "direction"], sort=False)["chosen_share"].idxmax()
    return scores.loc[rows].reset_index(drop=True)


def wilson(correct: NDArray[np.int64], total: NDArray[np.int64]) -> tuple[Float64Array, Float64Array]:
    """Compute the score interval of shares correct / total, 95 % (Wilson 1927); every total is at least 1.

    (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)
    """
    share, square = correct / total, _QUANTILE**2 / total
    middle = share + square / 2
    reach = np.sqrt(square * (share * (1 - share) + square / 4))
    # Rounding alone takes the ends beyond 0 and 1.
    return np.maximum((middle - reach) / (1 + square), 0.0), np.minimum((middle + reach) / (1 + square), 1.0)
