"""Every number that the atlas keeps of a head on a text: its name, its unit and what it says.

The first sixteen are the measures of `inspector.heads.measure`, under the same names, and `sink`. Two rules hold for
all:

- Weight on a key that depends on the query (an offset, the same token, the same word) is a mean over the queries that
  can see such a key; NaN where none can: in a text that is too short, and ahead of a decoder's queries.
- Weight on fixed keys (the first, a class, a quarter of the text) is a mean over all queries; NaN where the text has no
  such key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Unit = Literal["share", "nats", "tokens"]
Group = Literal["head", "offset", "part", "class", "norm-weighted"]

BINS = 64  # of a histogram
_MOST = {"share": 1.0, "nats": 12.0, "tokens": 512.0}  # the last bin holds all that is larger, too


@dataclass(frozen=True)
class Measure:
    """A measure of a head on one text: a mean over the text's queries.

    says: the end of a sentence that begins with what a head does, such as "looks at the token before".
    """

    name: str
    unit: Unit
    group: Group
    says: str

    @property
    def edges(self) -> NDArray[np.float64]:
        """The edges of its histogram's bins, [BINS + 1]: finer towards 0, where most shares lie."""
        return _MOST[self.unit] * np.linspace(0, 1, BINS + 1) ** 2


FARTHEST = 16
FAR_OFFSETS = tuple(offset for offset in range(-FARTHEST, FARTHEST + 1) if abs(offset) > 1)
"""Offsets with a measure of their own; -1, 0 and 1 are `previous`, `self` and `next`."""
PARTS = 4
CLASSES = ("special", "unknown", "punctuation", "number", "rest", "start")
"""Classes of keys, each token's the first that holds; `punctuation` is a measure of `heads` already."""
NORM_WEIGHTED = ("self", "previous", "next", "first", "cls", "sep", "punctuation")

_HEAD = (
    Measure("entropy", "nats", "head", "spreads its weight, as the entropy of a row says"),
    Measure("relative_entropy", "share", "head", "spreads its weight, of the most that the text's length allows"),
    Measure("distance", "tokens", "head", "looks far, on average"),
    Measure("self", "share", "head", "looks at the token itself"),
    Measure("previous", "share", "head", "looks at the token before"),
    Measure("next", "share", "head", "looks at the next token"),
    Measure("first", "share", "head", "looks at the first token"),
    Measure("cls", "share", "head", "looks at [CLS]"),
    Measure("sep", "share", "head", "looks at [SEP]"),
    Measure("punctuation", "share", "head", "looks at punctuation"),
    Measure("confidence", "share", "head", "gives much to its strongest key"),
    Measure("information", "nats", "head", "chooses its keys by the query"),
    Measure("induction", "share", "head", "looks at what followed an earlier copy of the token"),
    Measure("duplicate", "share", "head", "looks at the same token elsewhere"),
    Measure("word", "share", "head", "looks at the other pieces of the word"),
    Measure("sink", "share", "head", "gives much to the one token that receives most"),
)
_OFFSETS = tuple(
    Measure(
        f"offset_{offset:+d}",
        "share",
        "offset",
        f"looks {abs(offset)} tokens {'back' if offset < 0 else 'ahead'}",
    )
    for offset in FAR_OFFSETS
)
_PARTS = tuple(
    Measure(f"part_{part}", "share", "part", f"looks at the {ordinal} quarter of the text")
    for part, ordinal in enumerate(("first", "second", "third", "last"), start=1)
)
_CLASSES = (
    Measure("to_special", "share", "class", "looks at special tokens"),
    Measure("to_unknown", "share", "class", "looks at tokens that the tokenizer does not know"),
    Measure("to_number", "share", "class", "looks at numbers"),
    Measure("to_rest", "share", "class", "looks at later pieces of words"),
    Measure("to_start", "share", "class", "looks at words and their first pieces"),
)
_NORM_WEIGHTED = tuple(
    Measure(f"norm_{name}", "share", "norm-weighted", f"{of.says}, weighted by what the key adds")
    for name in NORM_WEIGHTED
    for of in _HEAD
    if of.name == name
)

MEASURES = (*_HEAD, *_OFFSETS, *_PARTS, *_CLASSES, *_NORM_WEIGHTED)
"""All measures, in the order of their columns."""
NAMES = tuple(measure.name for measure in MEASURES)


def find(name: str) -> Measure:
    """Find a measure by its name; ValueError with all names where there is none."""
    measure = next((measure for measure in MEASURES if measure.name == name), None)
    if measure is None:
        raise ValueError(f"there is no measure {name[:60]!a}; there are {', '.join(NAMES)}")
    return measure


def offset_name(offset: int) -> str:
    """Name the measure of the weight on the key `offset` tokens ahead: "previous", "self", "next" or "offset_+5"."""
    return {-1: "previous", 0: "self", 1: "next"}.get(offset, f"offset_{offset:+d}")
