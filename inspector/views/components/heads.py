"""All heads of the open view as a Streamlit component, which draws nothing: another head then opens in the browser."""

from __future__ import annotations

from inspector.views.components import files

_mount = files.declared("heads")


def heads(data: bytes, *, key: str) -> None:
    """Send `data` (of `components.head.every`), which the page keeps as long as this is called in each run."""
    _mount(key=key, data=data, height=1)
