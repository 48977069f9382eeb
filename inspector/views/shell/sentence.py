"""The sentence that opens a page: what its picture shows, in larger type, with the terms in it to be opened."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from inspector.views.shell import appearance
from inspector.wording import terms as glossary


def show(sentence: str, terms: Sequence[str] = ()) -> None:
    """Draw a page's sentence as the heading below its title, and a button for each term, which opens its meaning.

    The buttons stand beside the sentence, so that the picture below stays where it is however many there are, and in a
    narrow window below it. sentence: Markdown in one paragraph, of inspector.wording; terms: names in the glossary.
    """
    if not terms:
        st.header(sentence, anchor=False)
        return
    left, right = st.columns([4, 1], vertical_alignment="center", gap="small")
    left.header(sentence, anchor=False)
    with right.container(horizontal=True, gap="xsmall"):
        for term in terms:
            with st.popover(f"{term}?", type=appearance.quiet_button()):
                st.markdown(glossary.MEANINGS[term])
