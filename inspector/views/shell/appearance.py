"""The page in the light and in the dark: which of them the reader sees, and buttons that can be read in both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

if TYPE_CHECKING:
    from inspector.plots.theme import Mode


def mode() -> Mode:
    """Return the mode in which the reader sees the page: light or dark."""
    return "dark" if st.context.theme.type == "dark" else "light"


def main_button() -> Literal["primary", "secondary"]:
    """Return the type of a page's main button: plain in the dark, where white on the light accent cannot be read."""
    return "secondary" if mode() == "dark" else "primary"


def quiet_button() -> Literal["tertiary", "secondary"]:
    """Return the type of a button that opens something: with a border in the dark, where an open one could not be read.

    Without a border Streamlit writes it in the accent less a quarter of lightness, 2.3:1 on a dark page.
    """
    return "secondary" if mode() == "dark" else "tertiary"
