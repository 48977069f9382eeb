"""Compare with ...: the open head beside the same head of another layer, or another of its layer, on Compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from inspector.views.shell import link, open_site, overview, pages, site_words
from inspector.wording import attention as words

if TYPE_CHECKING:
    from inspector.trace import AttentionSite, Trace

PAGE = "compare"


def choose(trace: Trace, sites: Sequence[AttentionSite], *, row: int, number: int) -> None:
    """Draw the list of the heads that can stand beside the open head, each a link to the page with both.

    sites: of the stream; row, number: the open head's place among them.
    """
    first = (*overview.first_head(trace, stream=trace.streams[0]), 0)
    shown = [open_site.further(sites, first, by=by) for by in range(2)]  # by the page itself
    names = site_words.layer_names(sites)
    others = [(at, number) for at in range(len(sites)) if at != row]
    others += [(row, head) for head in range(sites[row].heads) if head != number]
    if not others:
        return
    with st.popover(words.COMPARE_WITH, key="compare with", on_change="rerun") as opened:
        for at, head in others if opened.open else ():
            _link(f"{names[at].capitalize()}, head {head}", [(sites[row], number), (sites[at], head)], shown=shown)


def _link(
    label: str, heads: Sequence[tuple[AttentionSite, int]], *, shown: Sequence[tuple[AttentionSite, int]]
) -> None:
    """Link to two heads on the page, on the reader's text.

    What the page shows without being asked is not named: it would take it out of its address, another step of Back.
    """
    given: dict[str, str] = {}
    for side, (site, head), (first, first_head) in zip("ab", heads, shown, strict=True):
        given |= {f"{side}_layer": str(site.layer)} if site.layer != first.layer else {}
        given |= {f"{side}_head": str(head)} if head != first_head else {}
        given |= {f"{side}_call": str(site.call)} if site.call else {}
        given |= {f"{side}_stream": site.stream} if site.stream != "encoder" else {}
    link.lead(PAGE, given)
    st.page_link(pages.FILES[PAGE], label=label, query_params=link.of_sidebar() | given)
