"""Compare with ...: the open head beside the same head of another layer, or another of its layer, on Compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from inspector.trace import AttentionSite
from inspector.views.shell import link, open_site, overview, pages, site_words
from inspector.wording import attention as words

if TYPE_CHECKING:
    from inspector.trace import MixerSite, Trace

PAGE = "compare"


def choose(trace: Trace, sites: Sequence[AttentionSite | MixerSite], *, row: int, number: int) -> None:
    """Draw the list of the heads that can stand beside the open head, each a link to the page with both.

    sites: all that mix the stream's tokens; row, number: the open head's place among them.
    """
    attentions = [site for site in sites if isinstance(site, AttentionSite)]
    if not attentions:
        return
    first = (*overview.first_head(trace, stream=trace.streams[0]), 0)
    shown = [open_site.further(attentions, first, by=by) for by in range(2)]  # by the page itself
    names = site_words.layer_names(attentions) if len(attentions) == len(sites) else [site.name for site in sites]
    others = [(at, min(number, site.heads - 1)) for at, site in enumerate(sites) if at != row]
    others += [(row, head) for head in range(sites[row].heads) if head != number]
    if not others:
        return
    with st.popover(words.COMPARE_WITH, key="compare with", on_change="rerun") as opened:
        for at, head in others if opened.open else ():
            _link(
                f"{names[at][0].upper()}{names[at][1:]}, head {head}",
                [(sites[row], number), (sites[at], head)],
                shown=shown,
            )


def _link(
    label: str,
    heads: Sequence[tuple[AttentionSite | MixerSite, int]],
    *,
    shown: Sequence[tuple[AttentionSite, int]],
) -> None:
    """Link to two heads on the page, on the reader's text.

    What the page shows without being asked is not named: it would take it out of its address, another step of Back.
    """
    given: dict[str, str] = {}
    for side, (site, head), (first, first_head) in zip("ab", heads, shown, strict=True):
        other_kind = site.kind != first.kind
        given |= {f"{side}_mixer": site.kind} if other_kind else {}
        given |= {f"{side}_layer": str(site.layer)} if other_kind or site.layer != first.layer else {}
        given |= {f"{side}_head": str(head)} if other_kind or head != first_head else {}
        given |= {f"{side}_call": str(site.call)} if site.call else {}
        given |= {f"{side}_stream": site.stream} if site.stream != "encoder" else {}
    link.lead(PAGE, given)
    st.page_link(pages.FILES[PAGE], label=label, query_params=link.of_sidebar() | given)
