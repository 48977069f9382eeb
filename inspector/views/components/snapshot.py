"""Buttons that save a chart of the page as a picture, as a Streamlit component."""

from __future__ import annotations

from inspector.views.components import files

_mount = files.declared("snapshot")


def snapshot(chart: str, *, name: str, key: str, screen: str = "") -> None:
    """Draw the buttons PNG and SVG for the plotly chart with the key `chart`.

    name: of the files, without ending. screen: the words of a button for the full screen, "" for none.
    """
    _mount(key=key, data={"chart": chart, "name": name, "screen": screen}, height="content")
