"""The width of the reader's window, which decides if grid and head stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def is_narrow() -> bool:
    """Return True if the window is too narrow for three columns; until the window tells, True on a phone."""
    narrow: bool = st.session_state.setdefault("narrow", "Mobi" in (st.context.headers.get("User-Agent") or ""))
    return narrow


def told(narrow: bool) -> None:
    """Keep what the window says of itself, before the run that follows."""
    st.session_state["narrow"] = narrow


def places() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Make a place for the grid and one for the open head, beside the grid or, in a narrow window, before it."""
    if is_narrow():
        head, grid = st.container(), st.container()
    else:
        grid, head = st.columns([32, 68], gap="small")
    return grid, head
