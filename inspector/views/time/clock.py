"""The section Serial or parallel: n steps of an LSTM beside one pass of attention, on this machine's clock."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell.session import Inspected


def show(inspected: Inspected) -> None:
    """Draw the section."""
    st.info("Not built yet.")
