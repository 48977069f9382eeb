"""What the message of one head can hold beside its weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from inspector.plots.theme import HEADS

if TYPE_CHECKING:
    from inspector.row_statistics import RowStatistics


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

    @property
    def header(self) -> dict[str, int]:
        """Its sizes; the picture travels behind the weights."""
        rows, cols = self.picture.shape
        return {"queries": self.queries, "keys": self.keys, "rows": rows, "cols": cols}


def check_parts(parts: Sequence[Part], mean: NDArray[np.float32], *, budget: int) -> None:
    """ValueError where there are more heads than colours or than fit `budget` bytes, or one has another shape."""
    most, size = len(HEADS["light"]), 4 * mean.size * (1 + len(parts))
    if parts and (len(parts) > most or size > budget):
        raise ValueError(
            f"{len(parts)} heads in colours, {mean.shape[0]} by {mean.shape[1]} tokens, are {size:,} bytes for the "
            f"browser; there is room for {most} heads and {budget:,} bytes. Choose fewer heads, or their mean."
        )
    for part in parts:
        if part.weights.shape != mean.shape:
            raise ValueError(f"{part.name} has the shape {part.weights.shape}, the mean {mean.shape}")


def of_parts(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Names and colours of several heads, as the header holds them."""
    colours = [dict(zip(HEADS, pair, strict=True)) for pair in zip(*HEADS.values(), strict=True)]
    return [{"name": part.name, "colours": colours[at]} for at, part in enumerate(parts)]


def of_rows(rows: RowStatistics) -> dict[str, int | list[float] | None]:
    """The numbers of rows as the header holds them, to a millionth of a nat: more than is printed."""
    offset = None if rows.offset is None else [round(number, 6) for number in rows.offset]
    return {"keys": rows.keys, "entropy": [round(number, 6) for number in rows.entropy], "offset": offset}
