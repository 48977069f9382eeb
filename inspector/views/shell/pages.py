"""The pages by their groups in the menu, and the file of each; inspector/sections/registry.py says what they are."""

from __future__ import annotations

from collections.abc import Mapping
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
    marked = PAGES[st.session_state.get("link.page", "")].group
    page = _menu(marked)
    group = PAGES[page.url_path].group
    return page if group == marked else _menu(group)


def _menu(marked: str) -> Page:
    """Draw the menu. marked: the group that stands out."""
    groups, titles, purposes = words.GROUPS, words.TITLES, words.PURPOSES
    return st.navigation(
        {
            f":primary[**{groups[group]}**]" if group == marked else groups[group]: [
                st.Page(
                    FILES[page.address],
                    title=titles[page.address],
                    url_path=page.address,
                    icon=f":material/{page.icon}:",
                    default=not page.address,
                    help=purposes[page.address],
                )
                for page in listed
            ]
            for group, listed in GROUPS.items()
        },
        position="top",
    )
