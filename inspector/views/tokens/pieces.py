"""The section One text, many vocabularies: one text as characters, words, WordPiece, BPE and unigram."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell.session import Inspected


def show(inspected: Inspected) -> None:
    """Draw the section."""
    st.info("Not built yet.")
