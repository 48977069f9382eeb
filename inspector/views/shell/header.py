"""The line over every page: the page, what it is for, and the model that reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.text import plain
from inspector.views.shell import available_models, languages, pages
from inspector.wording import pages as words
from inspector.wording import shell as shell_words

if TYPE_CHECKING:
    from types import ModuleType

    from streamlit.delta_generator import DeltaGenerator

    from inspector.sections.registry import Page

_PLACE = "header.place"  # in the session: where the model's name stands, and the words before it


def draw(page: Page, *, narrow: bool) -> DeltaGenerator:
    """Draw the line; nothing has to be loaded for it. Returns the place at its end.

    narrow: the window hides the menu, and the line offers the pages.
    """
    said = languages.frame(page.address)
    group, title, purpose = words.GROUPS[page.group], page.title, page.purpose
    if said is not None:
        group, title, purpose = said.GROUP, said.TITLE, said.PURPOSE
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if narrow or group == title:
            st.title(title, anchor=False, width="content")
        else:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
                st.markdown(f":small[:gray[{group} ·]]", width="content")
                st.title(title, anchor=False, width="content")
        if narrow:
            with st.popover(words.ALL_PAGES):
                _pages(page)
        model = _model(said) if page.runs else ""
        if narrow:  # what stands here takes room from the picture
            place, before = st.empty(), f"{purpose} "
        else:
            st.markdown(purpose, width="stretch")
            place, before = st.empty(), ""
        st.session_state[_PLACE] = place, before
        if before or model:
            place.markdown(before + model, width="stretch" if before else "content")
        return st.container(width="content")


def _pages(here: Page) -> None:
    """List the groups of pages, the open page's marked, and in each its pages with their purposes: so they all fit."""
    for group, listed in pages.GROUPS.items():
        with st.expander(f":primary[**{group}**]" if here in listed else group):
            for page in listed:
                st.page_link(pages.FILES[page.address], label=page.title, icon=f":material/{page.icon}:")
                st.caption(page.purpose)


def name(what: str, title: str) -> None:
    """Put the name of what the page shows where the line names the sidebar's model.

    what: such as "Shape". title: read as it stands, never as markdown.
    """
    place, before = st.session_state[_PLACE]
    place.markdown(f"{before}{what}: **{plain(title)}**", width="stretch" if before else "content")


def _model(said: ModuleType | None) -> str:
    """Name the model that reads. said: the words of a page that is shown in Chinese too, None of another."""
    opened = st.session_state.get("file") is not None
    title = "that of the saved trace" if opened else available_models.title(st.session_state["model"])
    if said is None:
        return f"{shell_words.MODEL}: **{plain(title)}**"
    name: str = said.SAVED_TRACE if opened else said.model(title)
    label: str = said.MODEL
    return label.format(f"**{plain(name)}**")
