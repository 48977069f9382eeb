"""The section Masking: the 80/10/10 rule on the reader's text, and what a model guesses at each rate."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell.session import Inspected


def show(inspected: Inspected) -> None:
    """Draw the section."""
    st.info("Not built yet.")
