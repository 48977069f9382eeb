"""The roles of heads in the grid of all heads: colours and meanings of frames, and the measures to sort heads by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from inspector.components.grid.message import Roles
from inspector.heads import BROAD_ENTROPY, BROAD_RELATIVE_ENTROPY, OFFSET_SHARE, SPECIAL_SHARE
from inspector.wording import phrases

# Near Okabe & Ito 2008, moved apart until every kind of colour vision tells any two from each other, and from the frame
# of the open head (a test simulates it).
COLOURS = {
    "light": {
        **{"previous": "#0072b2", "next": "#1699f3", "self": "#6da076", "[CLS]": "#c48901", "[SEP]": "#b72c00"},
        **{"first": "#a09143", "broad": "#8a8c96", "induction": "#a3006c", "same word": "#6d3127"},
    },
    "dark": {
        **{"previous": "#3e9ac1", "next": "#d0f0fc", "self": "#25d28f", "[CLS]": "#d2b744", "[SEP]": "#d88369"},
        **{"first": "#e8ea70", "broad": "#9c9ea8", "induction": "#d4c1fa", "same word": "#9e792c"},
    },
}

_SPECIAL = f"over {SPECIAL_SHARE:g} of the weight, mean over queries, goes to"
_OFFSET = f"over {OFFSET_SHARE:g} of the weight, mean over queries, goes to"
MEANINGS = {
    "previous": f"{_OFFSET} the token before (Clark et al. 2019)",
    "next": f"{_OFFSET} the token after (Clark et al. 2019)",
    "self": f"{_OFFSET} the token itself",
    "[CLS]": f"{_SPECIAL} [CLS] (Clark et al. 2019)",
    "[SEP]": f"{_SPECIAL} [SEP] (Clark et al. 2019)",
    "first": f"{_SPECIAL} the first token, a sink (Xiao et al. 2023)",
    "broad": f"entropy over {BROAD_ENTROPY:g} nats, or over {BROAD_RELATIVE_ENTROPY:g} of the most (Clark et al. 2019)",
    "induction": f"over {OFFSET_SHARE:g} goes to what followed the same token elsewhere, mean over tokens that repeat "
    "(Olsson et al. 2022)",
    "same word": f"over {OFFSET_SHARE:g} goes to the other pieces of the word; mean over pieces",
}

SORTED_BY = {
    "entropy": "entropy",
    "distance": "distance",
    "confidence": "confidence",
    "information": "information",
    "self": "weight on itself",
    "previous": "weight on the token before",
    "next": "weight on the token after",
    "first": "weight on the first token",
    "cls": "weight on [CLS]",
    "sep": "weight on [SEP]",
    "induction": "induction",
    "word": "weight within the word",
}


def roles(measures: pd.DataFrame) -> Roles:
    """Return the roles of one stream's heads; measures: the table of heads.measure, with the labels."""
    does = {name: (does[0].format(name), does[1].format(name)) for name, does in phrases.DO.items()}
    return Roles(by_layer(measures["label"], measures), MEANINGS, does, COLOURS)


def known(measures: pd.DataFrame) -> dict[str, str]:
    """Return the measures of which some head has a number: column -> name in the page."""
    return {column: name for column, name in SORTED_BY.items() if measures[column].notna().any()}


def sortable(measures: pd.DataFrame) -> dict[str, list[list[float | None]]]:
    """Return the measures to sort by, under their names in the page; None for a head without a value."""
    numbers = {name: measures[column].to_numpy() for column, name in known(measures).items()}
    return {name: by_layer(np.where(np.isnan(values), None, values), measures) for name, values in numbers.items()}


def notes(measures: pd.DataFrame) -> list[list[str]]:
    """Write a line for each thumbnail, by layer and head: the head's role and its numbers."""
    numbers = zip(*(measures[name] for name in ("label", "entropy", "distance", "confidence")), strict=True)
    lines = [
        [
            label,
            f"entropy {entropy:.3g} nats",
            "" if math.isnan(distance) else f"distance {distance:.3g} tokens",
            f"confidence {confidence:.3g}",
        ]
        for label, entropy, distance, confidence in numbers
    ]
    return by_layer([", ".join(filter(None, line)) for line in lines], measures)


def by_layer(column: ArrayLike, measures: pd.DataFrame) -> list[list[Any]]:
    """Arrange a value for each head of a stream, in the order of the rows, as lists by attention and head.

    A layer with fewer heads than another is filled up with "", or with None where the values are no text.
    """
    values, begins = np.asarray(column), np.flatnonzero(measures["head"].to_numpy() == 0)
    rows, blank = np.split(values, begins[1:]), "" if isinstance(values[0], str) else None
    most = max(map(len, rows))
    return [[*row.tolist(), *[blank] * (most - len(row))] for row in rows]
