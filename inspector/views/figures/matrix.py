"""A matrix on a page as a heatmap, or two that are compared, with the quiet control Save under it.

```python
matrix.show(weights, rows=tokens, columns=tokens, row_title="query", column_title="key", name="lab-a", key="lab-a")
matrix.pair(Panel(before, ...), Panel(after, ...), row_title="query", column_title="key", name="what-if", key="maps")
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.components.matrix import MatrixMessage, Numbered, Panel
from inspector.plots.theme import Scale
from inspector.views.components import matrix as component
from inspector.views.components.matrix import Pick

__all__ = ["Panel", "Pick", "pair", "show"]


def show(
    values: NDArray[np.floating[Any]],
    *,
    rows: Sequence[str] | range,
    columns: Sequence[str] | range,
    row_title: str,
    column_title: str,
    name: str,
    key: str,
    title: str = "",
    quantity: str = "weight",
    numbered: Numbered = "both",
    top: float | None = None,
    diverging: bool = False,
    scale: Scale = "linear",
    marked: Sequence[int] = (),
    python: str = "",
    on_pick: Callable[[Pick], None] | None = None,
) -> None:
    """Show a matrix [R, C]; every cell can be named, kept by a click, and reached by keyboard.

    rows, columns: a label each; range(n) counts them, tokens come as they are. row_title, column_title: what a row and
    a column are. title: over the plot, "" where the page's heading says it. quantity: the name of the values, in the
    singular. numbered: the axes whose labels repeat, as tokens do, and are named with their number. top: the end of the
    colour scale, the largest size of a value where None. diverging: signed values, zero in the middle of the scale.
    marked: rows that are framed. name: of the files. python: the lines that give the same numbers. on_pick: called
    before the run that follows a pin.
    """
    message = MatrixMessage(
        (Panel(values, rows=rows, columns=columns, title=title, marked=marked),),
        row_title=row_title,
        column_title=column_title,
        quantity=quantity,
        numbered=numbered,
        top=top,
        diverging=diverging,
        scale=scale,
        picks=on_pick is not None,
    )
    _draw(message, name=name, key=key, python=python, on_pick=on_pick)


def pair(
    left: Panel,
    right: Panel,
    *,
    row_title: str,
    column_title: str,
    name: str,
    key: str,
    quantity: str = "weight",
    numbered: Numbered = "both",
    top: float | None = None,
    diverging: bool = False,
    scale: Scale = "linear",
    python: str = "",
    on_pick: Callable[[Pick], None] | None = None,
) -> None:
    """Show two matrices side by side: one colour scale, cells of one size, plots that begin at one height, linked.

    The panels bring values, rows, columns, titles and marked rows; the rest is as in `show`. On a narrow page the
    second stands below the first.
    """
    message = MatrixMessage(
        (left, right),
        row_title=row_title,
        column_title=column_title,
        quantity=quantity,
        numbered=numbered,
        top=top,
        diverging=diverging,
        scale=scale,
        picks=on_pick is not None,
    )
    _draw(message, name=name, key=key, python=python, on_pick=on_pick)


def _draw(message: MatrixMessage, *, name: str, key: str, python: str, on_pick: Callable[[Pick], None] | None) -> None:
    component.matrix(message.to_bytes(), key=key, on_pick=on_pick)
