"""The sentence that opens a page: what its picture shows, in larger type, with the terms in it to be opened."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from inspector.wording.english.terms import MEANINGS


def show(sentence: str, terms: Sequence[str] = ()) -> None:
    """Draw a page's sentence as the heading below its title, and a button for each term, which opens its meaning.

    sentence: Markdown in one paragraph, of inspector.wording; terms: names in the glossary.
    """
    st.header(sentence, anchor=False)
    if terms:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("What is", width="content")
            for term in terms:
                with st.popover(term, type="tertiary"):
                    st.markdown(MEANINGS[term])
