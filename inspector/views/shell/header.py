"""The line over every page: the page, what it is for, and the model that reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from inspector.text import plain
from inspector.views.shell import appearance, available_models

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.navigation.page import Page

_PLACE = "header.place"  # in the session: where the model's name stands, and the words before it


def draw(page: Page, purpose: str, *, with_model: bool, pages: Mapping[str, Sequence[Page]]) -> DeltaGenerator:
    """Draw the line; nothing has to be loaded for it. Returns the place at its end.

    pages: by their groups, the pages that the line offers, for a window in which the navigation is hidden.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(page.title, anchor=False, width="content")
        if pages:
            with st.popover("Other pages", type=appearance.quiet_button()):
                for group, listed in pages.items():
                    st.markdown(f"**{group}**")
                    for other in listed:
                        st.page_link(other)
        model = f"Model: {_model()}" if with_model else ""
        if pages:  # what stands here takes room from the picture
            place, before = st.empty(), f"{purpose} "
        else:
            st.markdown(purpose, width="stretch")
            place, before = st.empty(), ""
        st.session_state[_PLACE] = place, before
        if before or model:
            place.markdown(before + model, width="stretch" if before else "content")
        return st.container(width="content")


def name(what: str, title: str) -> None:
    """Put the name of what the page shows where the line names the sidebar's model.

    what: such as "Shape". title: read as it stands, never as markdown.
    """
    place, before = st.session_state[_PLACE]
    place.markdown(f"{before}{what}: **{plain(title)}**", width="stretch" if before else "content")


def _model() -> str:
    opened = st.session_state.get("file") is not None
    model = "that of the saved trace" if opened else available_models.title(st.session_state["model"])
    return f"**{plain(model)}**"
