"""The line over every page: the page, what it is for, and the model that reads."""

from __future__ import annotations

import streamlit as st

from inspector.views.shell import available_models, widgets


def draw(title: str, purpose: str, *, with_model: bool) -> None:
    """Draw the line; nothing has to be loaded for it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(title, anchor=False, width="content")
        st.markdown(purpose, width="stretch")
        if with_model:
            opened = st.session_state.get("file") is not None
            model = "that of the saved trace" if opened else available_models.card(st.session_state["model"]).title
            st.markdown(f"Model: **{widgets.plain(model)}**", width="content")
