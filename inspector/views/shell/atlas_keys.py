"""The keys of atlases that a visitor holds: where strangers share the page, an atlas is seen by its link alone."""

from __future__ import annotations

import streamlit as st

from inspector.atlas import library
from inspector.views.server import audience
from inspector.views.shell import link

PATTERN = r"[^/\\]{0,100}"  # of an atlas's id in a link
_HELD = "atlas_keys"


def held() -> frozenset[str] | None:
    """Return the keys of this visitor; None where the page serves this machine alone, and every atlas is listed."""
    return None if audience.is_this_machine() else frozenset(st.session_state.get(_HELD, ()))


def take(id: str) -> None:
    """Keep the key that a link names, or that a build has made."""
    if library.is_key(id):
        st.session_state[_HELD] = {*st.session_state.get(_HELD, ()), id}


def close_atlas(id: str) -> None:
    """Go back to the first atlas where this one, which was removed, is open."""
    if link.held("atlas") == id:
        link.assign("atlas", None)


def open_atlas(id: str) -> None:
    """Open an atlas on the page, with the head and the number that it opens with."""
    take(id)
    link.assign("atlas", id)
    for name in ("by", "layer", "call", "head"):
        link.assign(name, None)
