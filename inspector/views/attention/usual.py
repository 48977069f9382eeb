"""The open head on this text beside the same head over a corpus, and the way to its card, where an atlas is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.heads import END_TOKENS, START_TOKENS
from inspector.views.shell import link, pages
from inspector.wording import atlas as said

if TYPE_CHECKING:
    import pandas as pd

    from inspector.atlas.library import Shelf
    from inspector.trace import AttentionSite
    from inspector.views.shell.session import Inspected

PAGE = "atlas"


def draw(inspected: Inspected, numbers: pd.Series[float], *, site: AttentionSite, head: int) -> None:
    """Say by what the head is most unusual on this text, and lead to its card; nothing where no atlas is at hand."""
    from inspector.atlas.reading.standing import most_unusual

    shelf = _shelf(inspected)
    if shelf is None or not shelf.atlases:
        return
    atlas = shelf.atlases[0]
    place = atlas.place(layer=site.layer, head=head, stream=site.stream, call=site.call)
    standing = most_unusual(atlas, place, numbers.to_dict(), tokens=len(inspected.trace.tokens))
    if standing is not None:
        start, end = (
            next((key for key in site.keys if key in names), names[0]) for names in (START_TOKENS, END_TOKENS)
        )
        st.caption(said.standing(standing, start=start, end=end))
    given = {"stream": site.stream, "layer": str(site.layer), "call": str(site.call), "head": str(head)}
    link.lead(PAGE, given)
    st.page_link(
        pages.FILES[PAGE],
        label=said.this_head(atlas.counted.read),
        icon=":material/open_in_new:",
        query_params=link.of_sidebar() | given,
    )


def _shelf(inspected: Inspected) -> Shelf | None:
    from inspector.atlas import library
    from inspector.views.shell import atlas_keys

    held = atlas_keys.held()
    if inspected.model is None or not library.any_of(inspected.model, keys=held):  # else a model may be loaded again
        return None
    loaded = inspected.loaded
    return None if loaded is None else library.of(loaded, keys=held)
