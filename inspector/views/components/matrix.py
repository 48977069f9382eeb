"""A matrix, or two of them, as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from inspector.views.components import files
from inspector.views.components.clicks import reporter

_mount = files.declared("matrix")


class Pick(NamedTuple):
    """A cell that the reader keeps: the plot, its row and its column, each from 0."""

    panel: int
    row: int
    column: int


def matrix(data: bytes, *, key: str, on_pick: Callable[[Pick], None] | None = None) -> None:
    """Draw `data` (of MatrixMessage.to_bytes); on_pick is called before the run that follows a pin."""
    _mount(key=key, data=data, height="content", on_pick_change=reporter(key, "pick", _pick, on_pick))


def _pick(value: object) -> Pick | None:
    match value:
        case {"panel": int(panel), "row": int(row), "column": int(column)}:
            return Pick(panel, row, column)
    return None
