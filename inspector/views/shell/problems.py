"""A problem that the page tells in a sentence."""

from __future__ import annotations

import streamlit as st


def show(sentence: str, *, what: str = "Cannot be shown") -> None:
    """Show a problem in a sentence.

    st.error would read markdown in it, and the sentence may quote the reader's text.
    """
    with st.container(border=True):
        st.badge(what, icon=":material/error:", color="red")
        st.text(sentence)
