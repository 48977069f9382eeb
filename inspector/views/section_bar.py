"""The bar that chooses a section of a page, and the list that chooses within a group of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from inspector.sections.registry import Group, Sections
from inspector.sections.section import Section
from inspector.views.shell import link

NAME = "section"  # in the link, which has the title of the open section, of a group's too


def choose(page: Sections) -> Section:
    """Draw the bar, and under it the list of an open group; return the section that is open, the first at first."""
    offered = {entry.id: entry for entry in page.below}
    holds = {part.title: entry for entry in page.below for part in _of(entry)}
    sections = {part.title: part for entry in page.below for part in _of(entry)}
    link.of_page(NAME)
    title = link.choice(NAME, default=next(iter(sections)), options=list(sections))
    link.opens(NAME, title)
    entry = holds[title]
    if len(offered) > 1:
        st.session_state[NAME] = entry.id
        st.segmented_control(
            page.asks,
            list(offered),
            format_func=lambda id: offered[id].title,
            key=NAME,
            required=True,
            label_visibility="collapsed",
            on_change=lambda: _open(page, _of(offered[st.session_state[NAME]])[0].title),
            wrap=True,
        )
    if isinstance(entry, Group):
        st.session_state[entry.id] = title
        st.selectbox(
            entry.title,
            [part.title for part in entry.sections],
            key=entry.id,
            label_visibility="collapsed",
            on_change=partial(_open_listed, page, entry.id),
            width=320,
        )
    return sections[title]


def among(label: str, titles: Sequence[str]) -> str:
    """Draw the bar of a board, whose parts are no sections; return the title of the open part, the first at first."""
    link.of_page(NAME)
    title = link.choice(NAME, default=titles[0], options=titles)
    link.opens(NAME, title)
    st.session_state[NAME] = title
    st.segmented_control(
        label,
        titles,
        key=NAME,
        required=True,
        label_visibility="collapsed",
        on_change=lambda: _assign(st.session_state[NAME], first=titles[0]),
        wrap=True,
    )
    return title


def _of(entry: Section | Group) -> tuple[Section, ...]:
    return entry.sections if isinstance(entry, Group) else (entry,)


def _open_listed(page: Sections, list_id: str) -> None:
    _open(page, st.session_state[list_id])


def _open(page: Sections, title: str) -> None:
    """Open a section in the run that follows."""
    _assign(title, first=_of(page.below[0])[0].title)


def _assign(title: str, *, first: str) -> None:
    """Choose a title for the run that follows; the link does not name the first."""
    link.assign(NAME, None if title == first else title)
