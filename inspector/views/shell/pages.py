"""The pages by their groups in the menu, and the file of each; inspector/sections/registry.py says what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from inspector.sections import registry
from inspector.sections.registry import PAGES
from inspector.wording.reader import pages as words

if TYPE_CHECKING:
    from streamlit.navigation.page import Page

VIEWS = Path(__file__).parents[1]
FILES = {address: VIEWS / (address or "attention") / "page.py" for address in PAGES}
GROUPS: Mapping[str, tuple[registry.Page, ...]] = {
    group: tuple(pages) for group, pages in groupby(PAGES.values(), key=lambda page: page.group)
}


def navigation() -> Page:
    """Draw the menu, in which the group of the open page is marked, and return that page.

    Only the menu tells which page is open. The last run's is marked until then, mostly the same.
    """
    titles, purposes = words.TITLES, words.PURPOSES
    listed = {
        group: [
            st.Page(
                FILES[page.address],
                title=titles[page.address],
                url_path=page.address,
                icon=f":material/{page.icon}:",
                default=not page.address,
                help=purposes[page.address],
            )
            for page in pages
        ]
        for group, pages in GROUPS.items()
    }
    marked = PAGES[st.session_state.get("link.page", "")].group
    page = _menu(listed, marked=marked)
    group = PAGES[page.url_path].group
    return page if group == marked else _menu(listed, marked=group)


def _menu(listed: Mapping[str, Sequence[Page]], *, marked: str) -> Page:
    """Draw the menu. listed: the pages of each group; marked: the group that stands out."""
    names = words.GROUPS
    return st.navigation(
        {f":primary[**{names[group]}**]" if group == marked else names[group]: listed[group] for group in listed},
        position="top",
    )
