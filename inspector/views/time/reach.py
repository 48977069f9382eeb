"""The section Gradient by distance: |d out_T / d x_t| of the loaded model by distance and depth."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell.session import Inspected


def show(inspected: Inspected) -> None:
    """Draw the section."""
    st.info("Not built yet.")
