"""The place of a head's numbers on one text among its numbers on all texts of an atlas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan

from inspector.atlas.measures import Measure, find
from inspector.atlas.opened import Atlas

SAID = ("self", "previous", "next", "first", "cls", "sep", "punctuation", "confidence")
"""The measures that are looked at: shares over every query. Entropy and distance grow with the text's length."""
UNUSUAL = 0.9  # of all texts


@dataclass(frozen=True)
class Standing:
    """A head's measure on a text, and the share of an atlas's texts in which it is surely smaller, or surely larger.

    texts: how many have the measure. share: 0..1, of the texts with less where `more`, else of the texts with more.
    """

    measure: Measure
    value: float
    share: float
    more: bool
    texts: int

    @property
    def unusual(self) -> bool:
        """True where the text lies beyond nine texts in ten."""
        return self.share >= UNUSUAL


def most_unusual(atlas: Atlas, place: int, numbers: Mapping[str, float]) -> Standing | None:
    """Find the measure by which a text is farthest out for a head; the first of equals, None where none is known.

    place: the head's row in the atlas. numbers: the measures of `inspector.heads.measure` on the text.
    """
    best: Standing | None = None
    for name in SAID:
        value = float(numbers[name])
        less, more = atlas.below(name, place, value)
        if isnan(value) or isnan(less):
            continue
        measure, share = find(name), max(less, more)
        texts = int(atlas.statistics.histogram[atlas.manifest.measures.index(name), place].sum())
        if best is None or share > best.share:
            best = Standing(measure, value, share, less >= more, texts)
    return best
