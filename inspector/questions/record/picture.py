"""The data and the words of a question's figure, drawn by `inspector.plots.questions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.questions.record.both import Both


@dataclass(frozen=True)
class Bars:
    """A bar for each name.

    names: the bars' names, from the top. title: the meaning of a bar's length, with the unit. parts: for each bar the
    part of a model that it tells of, a name of `inspector.plots.theme.PART`; all are attention where empty. mark: the
    value at which a line crosses all bars.
    """

    names: Sequence[Both | str]
    values: Sequence[float]
    title: Both
    parts: Sequence[str] = ()
    log: bool = False
    mark: float | None = None


@dataclass(frozen=True)
class Series:
    """A line of a figure, or its points where `points` is True."""

    name: Both | str
    x: Sequence[float]
    y: Sequence[float]
    part: str = "attention"
    dashed: bool = False
    points: bool = False


@dataclass(frozen=True)
class Lines:
    """Several lines over one axis. mark_x, mark_y: the values at which a line crosses the figure."""

    series: Sequence[Series]
    x_title: Both
    y_title: Both
    log_x: bool = False
    log_y: bool = False
    mark_x: float | None = None
    mark_y: float | None = None


@dataclass(frozen=True)
class Heatmap:
    """A matrix [R, C] as a picture, or two side by side: `values` on the left, `beside` on the right.

    rows, columns: labels, such as tokens. diverging: True where the values are signed.
    """

    values: NDArray[np.float32]
    rows: Sequence[str]
    columns: Sequence[str]
    row_title: Both
    column_title: Both
    quantity: Both
    title: Both | None = None
    beside: NDArray[np.float32] | None = None
    beside_title: Both | None = None
    diverging: bool = False


Picture = Bars | Lines | Heatmap
