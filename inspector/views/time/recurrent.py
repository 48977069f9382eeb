"""The section RNN, LSTM, GRU: the same gradient through torch.nn's recurrent networks on random input."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell.session import Inspected


def show(inspected: Inspected) -> None:
    """Draw the section."""
    st.info("Not built yet.")
