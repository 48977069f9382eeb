"""The line over every page: the page, what it is for, and the model that reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.text import plain
from inspector.views.shell import appearance, available_models, pages
from inspector.wording import pages as words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from inspector.sections.registry import Page

COLUMN = 300  # pixels
_PLACE = "header.place"  # in the session: where the model's name stands, and the words before it


def draw(page: Page, *, narrow: bool) -> DeltaGenerator:
    """Draw the line; nothing has to be loaded for it. Returns the place at its end.

    narrow: the window hides the menu, and the line offers the pages.
    """
    group = words.GROUPS[page.group]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not narrow and group != page.title:
            st.markdown(f":gray[{group} ·]", width="content")
        st.title(page.title, anchor=False, width="content")
        if narrow:  # at once: a list that asks for a run would wait for long work
            with st.popover(words.ALL_PAGES, type=appearance.quiet_button(), key=f"all pages {page.address}"):
                _list(*pages.GROUPS)
        else:
            _all_pages(page)
        model = f"Model: {_model()}" if page.runs else ""
        if narrow:  # what stands here takes room from the picture
            place, before = st.empty(), f"{page.purpose} "
        else:
            st.markdown(page.purpose, width="stretch")
            place, before = st.empty(), ""
        st.session_state[_PLACE] = place, before
        if before or model:
            place.markdown(before + model, width="stretch" if before else "content")
        return st.container(width="content")


@st.fragment
def _all_pages(page: Page) -> None:
    """Draw the button that lists all pages, which are sent once it is pressed."""
    key = f"all pages {page.address}"  # closed on the page that was chosen
    with st.popover(words.ALL_PAGES, type=appearance.quiet_button(), key=key, on_change="rerun") as listed:
        if listed.open:
            groups = list(pages.GROUPS)
            with st.container(horizontal=True, gap="medium", vertical_alignment="top"):
                for some in (groups[:2], groups[2:]):
                    with st.container(width=COLUMN, gap="xsmall"):
                        _list(*some)


def _list(*groups: str) -> None:
    """List the pages of groups, each with its purpose."""
    for group in groups:
        st.markdown(f"**{group}**")
        for page in pages.GROUPS[group]:
            st.page_link(pages.FILES[page.address], label=page.title, icon=f":material/{page.icon}:")
            st.caption(page.purpose)


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
