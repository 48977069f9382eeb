"""The one quiet control under a figure: its files, its Python lines, and the figure in large type for a slide."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from inspector.views.shell import downloads

_SLIDE = "The figure in large type, on a light or a dark ground"


def draw(
    name: str,
    *,
    key: str,
    pictures: Callable[[], None],
    csv: Callable[[], bytes],
    slide: Callable[[], None],
    python: str = "",
) -> None:
    """Draw the control.

    name: of the files, without an ending. pictures: draws the buttons PNG and SVG. csv: makes the table. slide: opens
    the dialog Slide. python: the lines after which a reader has the same numbers; no lines where it is empty.
    """
    with st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        # Beside the popover and not in it: an open popover would lie over the dialog.
        if st.button("Slide", icon=":material/slideshow:", type="tertiary", key=f"{key}-slide", help=_SLIDE):
            slide()
        with st.popover("Save", icon=":material/download:", type="tertiary", key=f"{key}-save"):
            pictures()
            downloads.button(f"{name}.csv", csv, "The numbers of the figure, to the last digit")
            if python:
                st.caption("The same numbers without the page:")
                st.code(python, language="python")
