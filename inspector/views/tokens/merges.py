"""The section How pieces are learned: the merges of BPE, WordPiece and unigram, step by step."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell.session import Inspected


def show(inspected: Inspected) -> None:
    """Draw the section."""
    st.info("Not built yet.")
