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

    names: of the bars, from the top. title: what a bar's length is, with its unit. parts: of which part of a model
    each bar tells, a name of `inspector.plots.theme.PART`, or none for all. mark: where a line across all bars stands.
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
    """Several lines over one axis; part: as in Bars. mark_x, mark_y: where a line across the figure stands."""

    series: Sequence[Series]
    x_title: Both
    y_title: Both
    log_x: bool = False
    log_y: bool = False
    mark_x: float | None = None
    mark_y: float | None = None


@dataclass(frozen=True)
class Map:
    """A matrix [R, C], or two side by side: `values` of the first, `beside` of the second.

    rows, columns: labels, such as tokens. diverging: signed values.
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


Picture = Bars | Lines | Map
