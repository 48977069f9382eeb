"""The line over every page: which page it is, what it is for, and the model that is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.shell import available_models, widgets

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage


def draw(page: StreamlitPage, purpose: str) -> None:
    """Draw the line; it stands there before the page has loaded anything."""
    card = available_models.card(st.session_state["model"])
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(page.title, anchor=False, width="content")
        st.markdown(purpose, width="stretch")
        st.markdown(f"Model: **{widgets.plain(card.title)}**", width="content")
