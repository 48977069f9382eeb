"""The place of a head's numbers on one text among its numbers on all texts of an atlas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan

import numpy as np

from inspector.atlas.measures import Measure, find
from inspector.atlas.opened import Atlas

SAID = ("self", "previous", "next", "first", "cls", "sep", "punctuation", "confidence")
"""The measures that are looked at: shares over every query. Entropy and distance grow with the text's length."""
ROUNDING = 1e-5  # share: what another processor may change
LIKE = 1.5  # times as long, or as short, at most: the share of one token falls with the length
FEWEST = 30  # texts of like length, below which nothing is compared
UNUSUAL = 0.975  # of the texts: eight measures are looked at, to both sides


@dataclass(frozen=True)
class Standing:
    """A head's measure on a text, and the share of an atlas's texts of like length with less of it, or with more.

    texts: how many there are. share: 0..1, of the texts with less where `more`, else of the texts with more.
    """

    measure: Measure
    value: float
    share: float
    more: bool
    texts: int


def most_unusual(atlas: Atlas, place: int, numbers: Mapping[str, float], *, tokens: int) -> Standing | None:
    """Find the measure by which a text is farthest out for a head; the first of equals.

    None where no measure is UNUSUAL, or where too few of the texts that the atlas keeps as a sample of all are about as
    long. place: the head's row in the atlas. numbers: the measures of `inspector.heads.measure` on the text. tokens:
    how many it has.
    """
    best: Standing | None = None
    lengths = atlas.sample_tokens
    like = (lengths >= tokens / LIKE) & (lengths <= tokens * LIKE)
    for name in SAID:
        value, others = float(numbers[name]), atlas.sample_values(name, place)[like]
        others = others[~np.isnan(others)]
        if isnan(value) or len(others) < FEWEST:
            continue
        less, more = float((others < value - ROUNDING).mean()), float((others > value + ROUNDING).mean())
        share = max(less, more)
        if share >= UNUSUAL and (best is None or share > best.share):
            best = Standing(find(name), value, share, less >= more, len(others))
    return best
