"""An old link opens the place where its content stands now; inspector/sections/moved.py has the table."""

from __future__ import annotations

import streamlit as st

from inspector.sections import moved
from inspector.views.shell.pages import FILES


def follow(page: str) -> None:
    """Rewrite the address where it is old, before anything reads it; turn to another page where its content moved."""
    given = st.query_params.to_dict()
    to, now = moved.address(page, given)
    if to != page:
        all_of = st.query_params.get_all
        kept = {name: all_of(name) if given.get(name) == value else [value] for name, value in now.items()}
        st.switch_page(FILES[to], query_params=kept)
    for name in given.keys() - now.keys():
        del st.query_params[name]
    for name, value in now.items():
        if given.get(name) != value:
            st.query_params[name] = value
