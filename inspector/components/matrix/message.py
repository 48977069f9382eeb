"""The message of one matrix, or of two that stand side by side on one colour scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inspector.components.pack import pack, stops
from inspector.plots import theme
from inspector.plots.theme import Scale
from inspector.text import read_marks

Numbered = Literal["both", "rows", "columns", "neither"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """A matrix [R, C] with a label for each row and column; a range counts them.

    NaN and -inf are cells without a number (masked). title: over the plot. marked: rows that are framed. borders:
    columns before which a line stands. named: the row and column of the cell that a sentence names, which is framed.
    Raises ValueError for labels that do not fit, and for a named cell outside of them.
    """

    values: NDArray[np.floating[Any]] = field(kw_only=False)
    rows: Sequence[str] | range
    columns: Sequence[str] | range
    title: str = ""
    marked: Sequence[int] = ()
    borders: Sequence[int] = ()
    named: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        shape, labels = self.values.shape, (len(self.rows), len(self.columns))
        if shape != labels:
            raise ValueError(f"a matrix of shape {shape} does not fit {labels[0]} rows and {labels[1]} columns")
        if not self.values.size:
            raise ValueError("there is no cell to draw")
        if self.named and not all(0 <= at < count for at, count in zip(self.named, labels, strict=True)):
            raise ValueError(f"the named cell {self.named} is outside of {labels[0]} rows and {labels[1]} columns")

    @property
    def largest(self) -> float:
        """The largest finite size of a value."""
        sizes = np.abs(self.values[np.isfinite(self.values)])
        return float(sizes.max(initial=0))

    @property
    def numbers(self) -> NDArray[np.float32]:
        """The values as they are drawn and told, NaN for a cell without a number."""
        values = self.values.astype(np.float32)
        return np.where(np.isfinite(values), values, np.float32("nan"))


@dataclass(frozen=True, eq=False, kw_only=True)
class MatrixMessage:
    """One matrix, or two on one colour scale whose plots have the same size and begin at the same height.

    row_title, column_title: the names of a row and a column ("query", "key"). quantity: the name of the values, in the
    singular. numbered: the axes whose labels are told with their number, as for tokens, which repeat. top: the end of
    the colour scale; the largest size of a value where None. diverging: the values are signed, from -top to top, zero
    in the middle. kinds: words for the values 0, 1, 2, ..., which are then told and listed beside their colours. picks:
    the host is told which cell the reader pins. words: the component's words in another language:
    "linear" and "sqrt" behind the quantity, "how_to" and "exactly". Raises ValueError for a top that is not finite and
    above 0, for no panel, and for more than two.
    """

    panels: Sequence[Panel] = field(kw_only=False)
    row_title: str
    column_title: str
    quantity: str = "weight"
    numbered: Numbered = "both"
    top: float | None = None
    diverging: bool = False
    scale: Scale = "linear"
    kinds: Sequence[str] = ()
    picks: bool = False
    words: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= len(self.panels) <= 2:
            raise ValueError(f"one matrix or two are drawn, not {len(self.panels)}")
        if self.top is not None and not (math.isfinite(self.top) and self.top > 0):
            raise ValueError(f"top {self.top} is no end of a colour scale: it is finite and above 0")

    @property
    def end(self) -> float:
        """The end of the colour scale."""
        if self.kinds:
            return len(self.kinds) - 1
        return self.top or max(panel.largest for panel in self.panels) or 1.0

    def to_bytes(self) -> bytes:
        """Pack the message: the header, then the panels' values, row by row."""
        header = {
            "panels": [_header(panel) for panel in self.panels],
            "titles": {"row": self.row_title, "column": self.column_title},
            "quantity": self.quantity,
            "numbered": {"row": self.numbered in ("both", "rows"), "column": self.numbered in ("both", "columns")},
            "vmax": self.end,
            "diverging": self.diverging,
            "scale": self.scale,
            "kinds": list(self.kinds),
            "picks": self.picks,
            "words": dict(self.words),
            "colours": stops(theme.DIVERGING if self.diverging else theme.SEQUENTIAL, odd=self.diverging),
        }
        return pack(header, np.concatenate([panel.numbers.ravel() for panel in self.panels]))


def _header(panel: Panel) -> dict[str, object]:
    return {
        "title": panel.title,
        "rows": _labels(panel.rows),
        "columns": _labels(panel.columns),
        "marked": list(panel.marked),
        "borders": list(panel.borders),
        **({"named": list(panel.named)} if panel.named else {}),
    }


def _labels(labels: Sequence[str] | range) -> list[str] | dict[str, int]:
    """Return labels as the header holds them; labels that only count are not written out."""
    if isinstance(labels, range):
        return {"start": labels.start, "step": labels.step, "count": len(labels)}
    return list(map(read_marks, labels))
