"""Distances between all heads as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from inspector.components.source import script, style
from inspector.views.components.clicks import reporter

_ADAPTER = """
export default ({ data, parentElement, setTriggerValue }) => {
  const view = draw(parentElement, data, setTriggerValue);
  return () => view.close();
};
"""

_mount = st.components.v2.component("headlight_pairs", css=style("pairs"), js=script("pairs") + _ADAPTER)


def pairs(data: bytes, *, key: str, on_open: Callable[[int, int], None]) -> None:
    """Draw `data` (of matrix_bytes); on_open(row, column) is called before the run that follows a click."""
    opened = reporter(key, "open", _pair, lambda pair: on_open(*pair))
    _mount(key=key, data=data, height="content", on_open_change=opened)


def _pair(value: object) -> tuple[int, int] | None:
    match value:
        case {"row": int(row), "column": int(column)}:
            return row, column
    return None
