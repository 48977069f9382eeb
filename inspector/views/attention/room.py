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
    """Places of the page.

    Of the sentence, the bar of options, the line with the head's name and numbers, the grid, the head, and the proof.
    """

    sentence: DeltaGenerator
    bar: DeltaGenerator
    line: DeltaGenerator
    grid: DeltaGenerator
    head: DeltaGenerator
    proof: DeltaGenerator


def places() -> Places:
    """Make the places: the head beside the grid, or in a narrow window right after the sentence; below it the proof.

    Beside the head the proof would leave the map half its size.
    """
    if width.is_stacked():
        sentence, line, head, proof = st.container(), _row(), st.container(), st.container()
        bar, grid = _row(), st.container()
    else:
        sentence, bar, line = st.container(), _row(), _row()
        grid, head = st.columns([32, 68], gap="small")
        proof = st.container()
    return Places(sentence, bar, line, grid, head, proof)


def _row() -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", gap="small")
