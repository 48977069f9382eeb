"""Events from a component in the browser, as long as the component is still in the page."""

from __future__ import annotations

import streamlit as st


def sent(key: str, name: str) -> object:
    """Return the value that the component `key` sent last under `name`.

    None where it sent nothing, and where it has left the page: a click may arrive after the reader went on.
    """
    return st.session_state.get(key, {}).get(name)
