"""The line over every page: the page, what it is for, and the model that reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.text import plain
from inspector.views.components import width
from inspector.views.shell import available_models, languages, pages
from inspector.wording.reader import pages as words
from inspector.wording.reader import shell as shell_words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from inspector.sections.registry import Page

_PLACE = "header.place"  # in the session: where the model's name stands, and the words before it


def draw(page: Page, *, narrow: bool) -> DeltaGenerator:
    """Draw the line; nothing has to be loaded for it. Returns the place at its end.

    narrow: the window hides the menu, and the line offers the pages.
    """
    group, title, purpose = words.GROUPS[page.group], words.TITLES[page.address], words.PURPOSES[page.address]
    if shell_words.ENGLISH_ALONE and not page.in_chinese:
        purpose = f"{purpose}:gray[{shell_words.ENGLISH_ALONE}]"
    # In a wide window a long purpose takes two lines, which are no higher than the buttons beside them.
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=width.is_stacked()):
        if narrow or group == title:
            st.title(title, anchor=False, width="content")
        else:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
                st.markdown(f":small[:gray[{group} ·]]", width="content")
                st.title(title, anchor=False, width="content")
        if narrow:
            with st.popover(words.ALL_PAGES):
                _pages(page)
            languages.switch()
        model = _model() if page.runs else ""
        if narrow:  # what stands here takes room from the picture
            place, before = st.empty(), f"{purpose} "
        else:
            st.markdown(purpose, width="stretch")
            place, before = st.empty(), ""
        st.session_state[_PLACE] = place, before
        if before or model:
            place.markdown(before + model, width="stretch" if before else "content")
        asked = st.container(width="content")
        if not narrow:
            languages.switch()
        return asked


def _pages(here: Page) -> None:
    """List the groups of pages, the open page's marked, and in each its pages with their purposes: so they all fit."""
    for group, listed in pages.GROUPS.items():
        name = words.GROUPS[group]
        with st.expander(f":primary[**{name}**]" if here in listed else name):
            for page in listed:
                st.page_link(
                    pages.FILES[page.address], label=words.TITLES[page.address], icon=f":material/{page.icon}:"
                )
                st.caption(words.PURPOSES[page.address])


def name(what: str, title: str) -> None:
    """Put the name of what the page shows where the line names the sidebar's model.

    what: such as "Shape". title: read as it stands, never as markdown.
    """
    place, before = st.session_state[_PLACE]
    place.markdown(before + _named(what, title), width="stretch" if before else "content")


def _model() -> str:
    """Name the model that reads."""
    opened = st.session_state.get("file") is not None
    title = shell_words.THAT_OF_TRACE if opened else available_models.title_in_frame(st.session_state["model"])
    return _named(shell_words.MODEL, title)


def _named(what: str, title: str) -> str:
    return f"{what}{shell_words.COLON}**{plain(title)}**"
