"""The sentence that opens a page: what its picture shows, in larger type, with the terms in it to be opened."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from inspector.wording.english.terms import MEANINGS


def show(sentence: str, terms: Sequence[str] = ()) -> None:
    """Draw a page's sentence as the heading below its title, and a button for each term, which opens its meaning.

    The buttons stand behind the sentence where there is room, else below it. sentence: Markdown in one paragraph, of
    inspector.wording; terms: names in the glossary.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(sentence, anchor=False, width="content")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            for term in terms:
                with st.popover(f"{term}?", type="tertiary"):
                    st.markdown(MEANINGS[term])
