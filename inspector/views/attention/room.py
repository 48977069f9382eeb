"""Places for the parts of the page: side by side, or in a narrow window one below the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.components import width

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


@dataclass(frozen=True)
class Places:
    """Places for the sentence, the bar of options, the line with the head's name and numbers, the grid and the head."""

    sentence: DeltaGenerator
    bar: DeltaGenerator
    line: DeltaGenerator
    grid: DeltaGenerator
    head: DeltaGenerator


def places() -> Places:
    """Make the places: the head beside the grid, or in a narrow window right after the sentence."""
    if width.is_stacked():
        sentence, line, head, bar, grid = st.container(), _row(), st.container(), _row(), st.container()
    else:
        sentence, bar, line = st.container(), _row(), _row()
        grid, head = st.columns([32, 68], gap="small")
    return Places(sentence, bar, line, grid, head)


def _row() -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", gap="small")
