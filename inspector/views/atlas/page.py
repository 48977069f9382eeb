"""Atlas: what every head of the model does over a corpus of texts, and one head whole."""

from __future__ import annotations

import numpy as np
import streamlit as st

from inspector.atlas import library, measures
from inspector.readings import atlas as read
from inspector.views.atlas import build_panel, card, grid, like, table
from inspector.views.atlas import colour as colours
from inspector.views.shell import boundary, link, sentence, session, stand_in, widgets
from inspector.wording.english import atlas as words

link.parameters("by", "layer", "call", "head", "atlas")
shown = stand_in.inspected(
    "has no atlas here",
    can=lambda loaded: bool(library.of(loaded).atlases),
    instead=library.shipped(),
)
shelf = library.of(shown.loaded)
for problem in shelf.problems:
    session.show_problem(problem)
number = link.number("atlas", default=0, last=len(shelf.atlases) - 1) or 0
if len(shelf.atlases) > 1:
    st.session_state["atlas"] = number
    number = st.selectbox(
        "Over which texts",
        range(len(shelf.atlases)),
        key="atlas",
        format_func=lambda one: words.texts(shelf.atlases[one]),
        on_change=lambda: link.assign("atlas", st.session_state["atlas"]),
        width=420,
    )
atlas = shelf.atlases[number]
if shelf.weights_of:
    st.caption(words.same_weights(shown.loaded.card.title, shelf.weights_of))


def open_head(place: int) -> None:
    """Open a head's card before the run that follows the click."""
    own = atlas.heads.iloc[place]
    for name in ("layer", "call", "head"):
        link.assign(name, int(own[name]))


def opened(stream: str, strongest: int) -> int:
    """The head that the link names, or else the one that does most of what the grid shows."""
    own = atlas.heads[atlas.heads["stream"] == stream]
    first = atlas.heads.iloc[strongest]
    asked = {
        name: link.number(name, default=int(first[name]), last=int(own[name].max()))
        for name in ("layer", "call", "head")
    }
    found = own[(own[list(asked)] == list(asked.values())).all(axis=1)]
    return int(found.index[0]) if len(found) else strongest


def explorer() -> None:
    """The grid and the open head: what a click changes, and nothing else."""
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        stream = widgets.stream(list(dict.fromkeys(atlas.heads["stream"])))
        keys = colours.options(atlas, stream)
        if not keys:
            session.show_problem(words.NO_NUMBER)
            return
        colour = colours.choose(atlas, keys)
    if answer := colours.answered(atlas, keys):
        st.caption(answer)
    inside = np.where(atlas.heads["stream"] == stream, colour.values, np.nan)
    strongest = int(np.nanargmax(inside))
    head = opened(stream, strongest)
    link.publish()
    with place:
        sentence.show(words.grid(read.grid(atlas, stream=stream)))
    left, right = st.columns([5, 6], gap="large")
    with left:
        grid.draw(atlas, colour, stream=stream, opened=head, on_open=open_head, name=f"{atlas.manifest.model}-atlas")
    measure = colour.key if colour.key in measures.NAMES else colours.FIRST
    with right:
        card.show(atlas, head, measure=measure)
    card.more(atlas, head, measure=measure, loaded=shown.loaded)
    like.show(atlas, head, on_open=open_head)
    with st.expander("All heads in numbers", key="atlas_table", on_change="rerun") as numbers:
        if numbers.open:
            table.draw(atlas, colour, stream=stream)


st.fragment(boundary.part(explorer))()
st.caption(words.corpus(atlas))
with st.expander(
    "Build one of your own texts", key="atlas_build_panel", icon=":material/add:", on_change="rerun"
) as panel:
    if panel.open:
        build_panel.show(session.load(session.chosen_model() or shown.loaded.card.id))
