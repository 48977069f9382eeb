"""Buttons that save a chart of the page as a picture, as a Streamlit component."""

from __future__ import annotations

import streamlit as st

from inspector.components.source import script, style

_ADAPTER = """
export default ({ data, parentElement }) => {
  const view = draw(parentElement, data);
  return () => view.close();
};
"""

_mount = st.components.v2.component("headlight_snapshot", css=style("snapshot"), js=script("snapshot") + _ADAPTER)


def snapshot(chart: str, *, name: str, key: str) -> None:
    """Draw the buttons PNG and SVG for the plotly chart with the key `chart`; name: of the files, without ending."""
    _mount(key=key, data={"chart": chart, "name": name}, height="content")
