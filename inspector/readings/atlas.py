"""Readings of an atlas: what its heads do over all texts, in numbers that a sentence can say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.atlas import Atlas
from inspector.atlas.measures import NAMES

HALF = 0.5
COUNTED = ("cls", "sep", "first", "previous", "next", "self", "punctuation")


@dataclass(frozen=True)
class Clearest:
    """The head with the largest mean of a measure: its row, the measure's name and the mean share."""

    place: int
    measure: str
    share: float


@dataclass(frozen=True)
class Grid:
    """The heads of one stream over all texts.

    heads, texts: how many. counts: of each measure that some heads give more than half of their weight to, how many.
    clearest: the head that does one thing most, special tokens apart; None where no measure is known.
    """

    heads: int
    texts: int
    counts: dict[str, int]
    clearest: Clearest | None


def grid(atlas: Atlas, *, stream: str) -> Grid:
    """Read what the heads of a stream do."""
    own = np.flatnonzero(atlas.heads["stream"] == stream)
    means = atlas.statistics.mean[:, own]
    starts = np.isfinite(means[NAMES.index("cls")]).any()  # then the first token is told by its name
    told = [name for name in COUNTED if not (starts and name == "first")]
    counts = {name: int((means[NAMES.index(name)] > HALF).sum()) for name in told}
    words = [name for name in COUNTED if name not in ("cls", "sep", "first")]
    table = means[[NAMES.index(name) for name in words]]
    clearest = None
    if np.isfinite(table).any():
        measure, head = np.unravel_index(np.nanargmax(table), table.shape)
        clearest = Clearest(int(own[head]), words[measure], float(table[measure, head]))
    return Grid(len(own), atlas.counted.read, {name: count for name, count in counts.items() if count}, clearest)
