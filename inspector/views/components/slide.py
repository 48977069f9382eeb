"""A figure in large type with a button for the full screen, as a Streamlit component."""

from __future__ import annotations

from inspector.views.components import files

_mount = files.declared("slide")


def slide(svg: str, *, words: str, alt: str, key: str) -> None:
    """Draw a picture of `inspector.plots`; words: the button's. alt: is read aloud in the picture's place."""
    _mount(key=key, data={"svg": svg, "words": words, "alt": alt}, height="content")
