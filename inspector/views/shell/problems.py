"""A problem that the page tells in a sentence."""

from __future__ import annotations

import streamlit as st

from inspector.wording.reader import shell as words


def show(sentence: str, *, what: str = "") -> None:
    """Show a problem in a sentence; what: a word above it, where it is not "Cannot be shown".

    st.error would read markdown in it, and the sentence may quote the reader's text.
    """
    with st.container(border=True):
        st.badge(what or words.CANNOT_BE_SHOWN, icon=":material/error:", color="red")
        st.text(sentence)
