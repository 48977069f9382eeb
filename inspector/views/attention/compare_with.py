"""Compare with ...: the open head beside the same head of another layer, or another of its layer, on Compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.shell import link, pages, site_words
from inspector.wording import attention as words

if TYPE_CHECKING:
    from inspector.trace import AttentionSite

PAGE = "compare"
_CHOICE = "compare with"


def choose(sites: Sequence[AttentionSite], *, row: int, number: int) -> None:
    """Draw the list of the heads that can stand beside the open head; a choice opens the page.

    sites: of the stream; row, number: the open head's place among them.
    """
    names = site_words.layer_names(sites)
    others = [(at, number) for at in range(len(sites)) if at != row]
    others += [(row, head) for head in range(sites[row].heads) if head != number]
    if not others:
        return
    state = st.session_state
    chosen = state.get(_CHOICE)
    state[_CHOICE] = None  # so that the same can be chosen again
    if chosen in others:
        _open(sites[row], number, sites[chosen[0]], chosen[1])
    st.selectbox(
        words.COMPARE_WITH,
        others,
        index=None,
        format_func=lambda place: f"{names[place[0]].capitalize()}, head {place[1]}",
        key=_CHOICE,
        placeholder=words.COMPARE_WITH,
        label_visibility="collapsed",
        width=170,
    )


def _open(a: AttentionSite, head: int, b: AttentionSite, other: int) -> None:
    """Open two heads on the page, on the reader's text."""
    given = {"a_layer": a.layer, "a_head": head, "b_layer": b.layer, "b_head": other}
    given |= {f"{side}_call": site.call for side, site in (("a", a), ("b", b)) if site.call}
    written = {name: str(value) for name, value in given.items()}
    if a.stream != "encoder":
        written |= {"a_stream": a.stream, "b_stream": b.stream}
    for name in ("a_text", "b_text"):
        st.session_state[name] = ""
    link.lead(PAGE, written)
    st.switch_page(pages.FILES[PAGE], query_params=link.of_sidebar() | written)
