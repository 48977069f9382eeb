"""The section Old keys and queries: what later tokens change in the keys before them, and why no query is kept."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell.session import Inspected


def show(inspected: Inspected) -> None:
    """Draw the section."""
    st.info("Not built yet.")
