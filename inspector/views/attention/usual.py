"""The open head on this text beside the same head over a corpus, and the way to its card, where an atlas is at hand.

The atlas is the one that lies open on the page Atlas, else the model's first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.heads import END_TOKENS, START_TOKENS
from inspector.views.shell import link
from inspector.wording import atlas as said

if TYPE_CHECKING:
    import pandas as pd

    from inspector.atlas import Atlas
    from inspector.trace import AttentionSite
    from inspector.views.shell.session import Inspected

PAGE = "atlas"


def lead(inspected: Inspected, *, site: AttentionSite, head: int) -> None:
    """Lead to the head's card; nothing where no atlas is at hand."""
    from inspector.atlas import library

    atlas = _open_atlas(inspected)
    if atlas is None:
        return
    id = library.id_of(atlas)  # "" of a shipped one
    given = {"stream": site.stream, "layer": str(site.layer), "call": str(site.call), "head": str(head)}
    given |= {"atlas": id} if id else {}
    link.to(PAGE, given, label=said.this_head(atlas.counted.read))


def draw(inspected: Inspected, numbers: pd.Series[float], *, site: AttentionSite, head: int) -> None:
    """Say by what the head is most unusual on this text; nothing where no atlas is at hand."""
    from inspector.atlas.reading.standing import most_unusual

    atlas = _open_atlas(inspected)
    if atlas is None:
        return
    place = atlas.place(layer=site.layer, head=head, stream=site.stream, call=site.call)
    standing = most_unusual(atlas, place, numbers.to_dict(), tokens=len(inspected.trace.tokens))
    if standing is not None:
        start, end = (
            next((key for key in site.keys if key in names), names[0]) for names in (START_TOKENS, END_TOKENS)
        )
        st.caption(said.standing(standing, start=start, end=end))


def _open_atlas(inspected: Inspected) -> Atlas | None:
    from inspector.atlas import library
    from inspector.views.shell import atlas_keys

    held = atlas_keys.held()
    if inspected.model is None or not library.any_of(inspected.model, keys=held):  # else a model may be loaded again
        return None
    loaded = inspected.loaded
    atlases = {} if loaded is None else {library.id_of(atlas): atlas for atlas in library.of(loaded, keys=held).atlases}
    return atlases.get(str(link.held("atlas")), next(iter(atlases.values()), None))
