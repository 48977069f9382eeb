"""A matrix, or two side by side, as the picture that a file and a slide hold."""

from __future__ import annotations

from inspector.components.matrix.message import MatrixMessage
from inspector.plots import matrices
from inspector.plots.scene import Scene
from inspector.plots.theme import Mode


def picture(message: MatrixMessage, *, title: str = "", mode: Mode) -> Scene:
    """Lay out what a message draws in the browser."""
    plots = [
        matrices.Plot(
            values=panel.values,
            rows=[str(label) for label in panel.rows],
            columns=[str(label) for label in panel.columns],
            title=panel.title,
            marked=panel.marked,
            borders=panel.borders,
        )
        for panel in message.panels
    ]
    return matrices.slide(
        plots,
        title=title,
        row_title=message.row_title,
        column_title=message.column_title,
        quantity=message.quantity,
        top=message.end,
        diverging=message.diverging,
        scale=message.scale,
        kinds=message.kinds,
        mode=mode,
    )
