"""A matrix on a page as a heatmap, or two that are compared, with the menu of its files at its title.

```python
a, b = (Panel(weights, rows=tokens, columns=tokens, title=side) for side, weights in maps.items())
matrix.show(a, row_title="query", column_title="key", name="lab-a", key="lab-a")
matrix.show(a, b, row_title="query", column_title="key", name="lab", key="lab")
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from inspector.components.matrix import MatrixMessage, Numbered, Panel
from inspector.export import spreadsheet
from inspector.plots.scene import Scene
from inspector.plots.theme import Mode, Scale
from inspector.text import plain, visible
from inspector.views.components import matrix as component
from inspector.views.components.matrix import Pick
from inspector.views.figures import save

__all__ = ["Panel", "Pick", "show"]
_ROWS, _COLUMNS = ("both", "rows"), ("both", "columns")


def show(
    *panels: Panel,
    row_title: str,
    column_title: str,
    name: str,
    key: str,
    quantity: str = "weight",
    numbered: Numbered = "both",
    top: float | None = None,
    diverging: bool = False,
    scale: Scale = "linear",
    kinds: Sequence[str] = (),
    heading: str = "",
    sentence: str = "",
    python: str = "",
    on_pick: Callable[[Pick], None] | None = None,
    labels: save.Labels = save.ENGLISH,
) -> None:
    """Show a matrix [R, C], or two side by side, under its title line.

    Every cell can be named, kept by a click, and reached by keyboard. Two have one colour scale, cells of one size and
    plots that begin at one height, and are linked; on a narrow page the second stands below the first. row_title,
    column_title: what a row and a column are. quantity: the name of the values, in the singular. numbered: the axes
    whose labels repeat, as tokens do, and are named with their number. top: the end of the colour scale, the largest
    size of a value where None. diverging: signed values, zero in the middle of the scale. kinds: words for the values
    0, 1, 2, ..., which then have no scale. heading, sentence: above the matrix. name: of the files. python: the lines
    that give the same numbers. on_pick: called before the run that follows a pin. labels: the words of the menu, in
    another language.
    """
    message = MatrixMessage(
        panels,
        row_title=row_title,
        column_title=column_title,
        quantity=quantity,
        numbered=numbered,
        top=top,
        diverging=diverging,
        scale=scale,
        kinds=kinds,
        picks=on_pick is not None,
        words=labels.matrix,
    )

    def drawn(mode: Mode) -> Scene:
        from inspector.components.matrix.picture import picture

        title = save.title_of(heading=heading, sentence=sentence)
        return picture(message, title=title or ("" if len(panels) > 1 else panels[0].title), mode=mode)

    with st.container(gap="xsmall" if heading or sentence else None):
        save.figure(
            name,
            {"": drawn},
            table=lambda: _csv(message),
            key=key,
            heading=heading,
            sentence=sentence,
            about=plain(" and ".join(filter(None, (panel.title for panel in panels)))),
            python=python,
            labels=labels,
        )
        component.matrix(message.to_bytes(), key=key, on_pick=on_pick)


def _csv(message: MatrixMessage) -> bytes:
    """Write one matrix as it stands, two as a row for each cell: plot, row, column, value. Nine digits each."""
    named = [
        (panel, _names(panel.rows, message.numbered in _ROWS), _names(panel.columns, message.numbered in _COLUMNS))
        for panel in message.panels
    ]
    corner = f"{message.row_title} / {message.column_title}"
    if len(named) == 1:
        ((panel, rows, columns),) = named
        lines = ([row, *map(_digits, values)] for row, values in zip(rows, panel.values.tolist(), strict=True))
        return spreadsheet.rows([corner, *columns], lines).encode()
    header = ["map", message.row_title or "row", message.column_title or "column", message.quantity]
    cells = (
        [panel.title or f"map {at}", rows[row], columns[column], _digits(value)]
        for at, (panel, rows, columns) in enumerate(named)
        for (row, column), value in np.ndenumerate(panel.values)
    )
    return spreadsheet.rows(header, cells).encode()


def _names(labels: Sequence[str] | range, numbered: bool) -> list[str]:
    if isinstance(labels, range):
        return [str(label) for label in labels]
    shown = [visible(label) for label in labels]
    return [f"{at} {label}" for at, label in enumerate(shown)] if numbered else shown


def _digits(value: float) -> float:
    return float(f"{value:.9g}")
