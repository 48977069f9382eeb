"""The page in the light and in the dark: which of them the reader sees, and buttons that can be read in both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from inspector.plots.theme import Mode


def mode() -> Mode:
    """Return the mode in which the reader sees the page: light or dark."""
    return "dark" if st.context.theme.type == "dark" else "light"


def on_accent(label: str, icon: str = "", *, disabled: bool = False) -> tuple[str, str | None]:
    """Return label and icon of a page's main button, which is of type "primary".

    In the dark the accent is light, and Streamlit would write white on it, 2.6:1: there the label brings its black,
    8.2:1, with the accent as its ground, for a button under the pointer is darker.
    """
    if mode() == "light" or disabled:
        return label, icon or None
    words = f"{icon} {label}".strip()
    accent = st.get_option("theme.dark.primaryColor")
    return f':color[{words}]{{foreground="#000000" background="{accent}"}}', None
