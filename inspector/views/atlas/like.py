"""Heads that do what a head does: of the same model, and of the other models that have an atlas."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from inspector.atlas import Atlas, library, likeness
from inspector.atlas.opened import open_atlas
from inspector.views.shell import session
from inspector.wording.english import atlas as words
from inspector.wording.english import atlas_card as said

_LISTED = 6


def show(atlas: Atlas, place: int, *, on_open: Callable[[int], None]) -> None:
    """List the nearest heads; one of this model opens with a click."""
    st.subheader("Heads like it", anchor=False)
    others = [open_shipped(id) for id in library.shipped() if id != atlas.manifest.model]
    everywhere = st.toggle("In the other models too", key="atlas_everywhere", disabled=not others)
    every = [atlas, *(others if everywhere else ())]
    key = ("atlas like", *(one.manifest.key for one in every), place)
    rows = session.cached(
        key, lambda: likeness.like([one.statistics.mean.T for one in every], model=0, place=place)
    ).head(_LISTED)
    with st.container(horizontal=True):
        for row in rows.itertuples():
            name = words.name(every[row.model], row.place)
            label = f"{name} ({row.distance:.2f})"
            if row.model == 0:
                st.button(label, key=f"like {row.place}", on_click=on_open, args=(row.place,))
            else:
                st.markdown(f"{every[row.model].manifest.model}: {label}", width="content")
    st.caption(said.LIKE)
    if everywhere:
        corpora = "; ".join(f"{one.manifest.model} on {one.manifest.corpus}" for one in every)
        st.caption(said.OTHER_CORPORA.format(corpora))


def open_shipped(id: str) -> Atlas:
    """Open a shipped atlas, once for all readers."""
    return session.cached(("atlas shipped", id), lambda: open_atlas(library.SHIPPED / id))
