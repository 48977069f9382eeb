"""Compare with ...: the open head beside another, on Compare: its like in other layers, its layer, or any head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from inspector.trace import AttentionSite
from inspector.views.shell import link, open_site, overview, site_words
from inspector.wording import attention as words

if TYPE_CHECKING:
    from inspector.trace import MixerSite, Trace

PAGE = "compare"


def choose(trace: Trace, sites: Sequence[AttentionSite | MixerSite], *, row: int, number: int) -> None:
    """Draw the heads that can stand beside the open head, each a link to the page with both: near ones, and any.

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

    def link_to(at: int, head: int) -> None:
        _link(f"{_capital(names[at])}, head {head}", [(sites[row], number), (sites[at], head)], shown=shown)

    with st.popover(words.COMPARE_WITH, key="compare with", on_change="rerun") as opened:
        if not opened.open:
            return
        link_to(*_any(names, sites, row=row, number=number))
        for at, head in others:
            link_to(at, head)


def _any(names: Sequence[str], sites: Sequence[AttentionSite | MixerSite], *, row: int, number: int) -> tuple[int, int]:
    """Draw the choice of any layer and head, first one that is near in neither; return its row and head."""
    rows = len(sites)
    with st.container(horizontal=True, gap="small"):
        at = st.selectbox(
            "Layer",
            range(rows),
            index=(row + 1) % rows,
            format_func=lambda at: _capital(names[at]),
            key=f"any row of {rows}",
            width=150,
        )
        heads = sites[at].heads
        head = st.selectbox("Head", range(heads), index=(number + 1) % heads, key=f"any head of {heads}", width=110)
        return at, head


def _capital(name: str) -> str:
    """Begin a layer's name with a capital letter; what follows may be an abbreviation."""
    return f"{name[0].upper()}{name[1:]}"


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
    link.to(PAGE, given, label=label, icon=None)
