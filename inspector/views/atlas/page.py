"""Atlas: what every head of the model does over a corpus of texts, and one head whole; the reader's own texts, too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from inspector.atlas import library
from inspector.sections.atlas.beside import BESIDE
from inspector.views import sections
from inspector.views.atlas import build_panel
from inspector.views.shell import atlas_keys, link, problems, session
from inspector.wording import atlas as words

if TYPE_CHECKING:
    from inspector.sections.section import Need
    from inspector.sections.subject import Subject


def opened(need: Need | None) -> Subject:
    """Open the atlas that the link names, or the first of the model, of those that the visitor may see."""
    assert need is not None
    asked = link.text("atlas", pattern=atlas_keys.PATTERN)
    atlas_keys.take(asked)
    if isinstance(beside := link.held(BESIDE.id), str):  # the link holds the key of a second atlas too
        atlas_keys.take(beside.removeprefix(library.KEPT))
    keys = atlas_keys.held()
    subject = sections.of_model(replace(need, can=lambda loaded: bool(library.of(loaded, keys=keys).atlases)))
    shelf = library.of(subject.model, keys=keys)
    for problem in shelf.problems:
        problems.show(problem)
    atlases = {library.id_of(atlas): atlas for atlas in shelf.atlases}
    if not atlases:  # another visitor has removed it in this moment
        st.info(words.NONE_LEFT)
        st.stop()
    if asked not in atlases:
        if asked:
            st.caption(words.NOT_HERE)
            link.assign("atlas", None)
        asked = next(iter(atlases))
    if len(atlases) > 1:
        st.session_state["atlas"] = asked
        asked = st.selectbox(
            words.OVER,
            list(atlases),
            key="atlas",
            format_func=lambda id: words.texts(atlases[id]),
            on_change=lambda: atlas_keys.open_atlas(st.session_state["atlas"]),
            width=420,
        )
    if asked:
        st.caption(words.built_here(atlases[asked], by_key=keys is not None and library.is_key(asked)))
    if shelf.weights_of:
        st.caption(words.same_weights(subject.model.card.title, shelf.weights_of))
    return replace(subject, opened=atlases[asked], keys=keys)


subject = sections.show_page("atlas", opened, parameters=("atlas",))
with st.expander(words.BUILD, key="atlas_build_panel", icon=":material/add:", on_change="rerun") as panel:
    if panel.open and subject is not None:
        build_panel.show(session.load(session.chosen_model() or subject.model.card.id))
