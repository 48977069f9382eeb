"""Find a head that ...: the heads of the stream by what the reader wishes for, the best five as rows to open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from inspector import head_search as find
from inspector.text import named, token_name
from inspector.views.attention import reading
from inspector.wording import find as said
from inspector.wording import mixers as mixer_words

if TYPE_CHECKING:
    from inspector.trace import AttentionSite, Trace

SHOWN = 5  # heads, the best first
LINK = "link"  # the wish for which two tokens are chosen
FROM, TO = "From", "To"
POPOVER = "find"


def draw(
    trace: Trace,
    sites: Sequence[AttentionSite],
    *,
    on_open: Callable[[int, int], None],
    on_link: Callable[[int, int], None],
    link: tuple[int, int] | None = None,
) -> None:
    """A button with the wishes as chips, and below them the heads that fit best; it closes with the head that opens.

    sites: of one stream. on_open: called with row and head before the run that follows a click. on_link: called too
    where the head is to link two tokens, with the query and the key. link: the query and the key to begin with then.
    """
    stream, sides = sites[0].stream, {FROM: sites[0].queries, TO: sites[0].keys}
    # The browser sends a token by its name, which is in no list of another text or stream: theirs is another choice.
    keys = {side: f"{side} {stream} {trace.key}" for side in sides}
    places = dict(zip(sides, link or (0, 0), strict=True))
    rows = {(site.layer, site.call): row for row, site in enumerate(sites)}

    def opened(match: find.FittingHead) -> tuple[int, int]:
        return rows[match.layer, match.call], match.head

    def fitting() -> tuple[find.FittingHead, ...]:
        wish = st.session_state["wish"]
        if wish == LINK:
            return find.linking(trace, stream=stream, query=end(FROM), key=end(TO))
        return find.fitting(reading.chosen(trace), wish, stream=stream) if wish else ()

    def end(side: str) -> int:
        place: int = st.session_state.get(keys[side], places[side])
        return place

    def open_head(row: int, head: int) -> None:
        on_open(row, head)
        if st.session_state["wish"] == LINK:
            on_link(end(FROM), end(TO))
        st.session_state[POPOVER] = False  # it would lie over the map

    with st.popover("Find a head that …", icon=":material/search:", key=POPOVER, on_change="rerun"):
        wish = st.pills(
            "Find a head that …",
            [*reading.wishes(trace, stream), LINK],
            format_func=lambda name: said.WISHES.get(name, said.LINK),
            key="wish",
            label_visibility="collapsed",
        )
        if len(trace.mixing_sites_of(stream)) > len(sites):
            st.caption(mixer_words.SOFTMAX_ALONE)
        if wish is None:
            st.caption(said.CLICK)
            return
        if wish == LINK:
            with st.container(horizontal=True):
                chosen = {
                    side: _token(side, tokens, place=places[side], key=keys[side]) for side, tokens in sides.items()
                }
        matches = fitting()
        if wish == LINK:
            st.markdown(said.links(matches[0], *(named(sides[side], place) for side, place in chosen.items())))
        else:
            st.markdown(said.best(matches[0], wish))
        with st.container(gap="xsmall"):
            for match in matches[:SHOWN]:
                fits = said.fits(match, wish) if wish != LINK else said.linking(match)
                at = opened(match)
                st.button(
                    f"{said.head(match)}: {fits}",
                    key=f"found-{at[0]}-{at[1]}",
                    type="tertiary",
                    on_click=open_head,
                    args=at,
                )


def _token(label: str, tokens: Sequence[str], *, place: int, key: str) -> int:
    """Draw a choice of one of the text's tokens; place: of the one that is chosen first."""
    chosen: int = st.selectbox(
        label,
        range(len(tokens)),
        index=place,
        format_func=lambda position: f"{position} {token_name(tokens[position])}",
        key=key,
    )
    return chosen
