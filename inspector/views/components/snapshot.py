"""Buttons that save a chart of the page as a picture, as a Streamlit component."""

from __future__ import annotations

from inspector.views.components import files

_mount = files.declared("snapshot")


def snapshot(chart: str, *, name: str, key: str) -> None:
    """Draw the buttons PNG and SVG for the plotly chart with the key `chart`; name: of the files, without ending."""
    _mount(key=key, data={"chart": chart, "name": name}, height="content")
