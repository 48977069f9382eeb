"""What the message of one head can hold beside its weights."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Linked:
    """Heads on one page that light up each other's tokens while one is looked at: those with the same name.

    queries, keys: a number for each token; tokens of linked heads belong together where it is equal. None: there is no
    counterpart.
    """

    name: str
    queries: tuple[int | None, ...]
    keys: tuple[int | None, ...]


@dataclass(frozen=True)
class Segments:
    """Which text each token belongs to: 0 the text, 1 its pair."""

    queries: tuple[int, ...]
    keys: tuple[int, ...]


@dataclass(frozen=True)
class HeadOptions:
    """What a reader switched in the view of a head, as a link holds it; "" is what the view starts with.

    lines: "top3", the strongest of each query, 1 to 10; "above0.05", from a value on. between: "ab", queries of the
    text and keys of its pair; "ba"; "a" and "b" within one. tokens: a part of those that stand out.
    """

    lines: str = ""
    between: str = ""
    tokens: str = ""

    PATTERNS: ClassVar[dict[str, str]] = {
        "lines": r"top([1-9]|10)|above\d{1,6}(\.\d{1,9})?(e-?\d{1,2})?",
        "between": "ab|ba|a|b",
        "tokens": ".{1,40}",
    }

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if value and not re.fullmatch(self.PATTERNS[option.name], value, re.DOTALL):
                raise ValueError(f"{option.name} {value!a} is none of {self.PATTERNS[option.name]}")


@dataclass(frozen=True, eq=False)
class Part:
    """One of several heads of which the mean is drawn, with lines in a colour of its own; weights: float32 [Q, T]."""

    name: str
    weights: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Whole:
    """The whole map of which a window is drawn: how many queries and keys it has, and its picture uint8 [rows, cols].

    picture: as packing.thumbnails gives it.
    """

    queries: int
    keys: int
    picture: NDArray[np.uint8]
