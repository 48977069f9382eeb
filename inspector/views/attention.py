"""Attention: every layer and head at once, and the open head whole."""

from __future__ import annotations

import streamlit as st

from inspector import heads, maps
from inspector.plots import attention as draw
from inspector.plots import packing, theme
from inspector.views import downloads, link, parts, session
from inspector.views.components.grid import grid
from inspector.views.components.head import Choice, Step, head

st.title("Attention")
inspected = session.inspected()
trace = inspected.trace
site = trace.sites[0]
last_layer, last_head = len(trace.sites) - 1, site.heads - 1
measures = session.measures(trace)
telling = heads.most_telling(measures)


def opened() -> tuple[int, int]:
    """(layer, head) that the reader opened, or that the link names, or else the most telling."""
    layer = link.chosen("layer", default=telling[0], last=last_layer)
    number = link.chosen("head", default=telling[1], last=last_head)
    return layer or 0, number or 0


def open_head(layer: int, number: int) -> None:
    """Called before the run that follows a click, so that this run draws the answer."""
    link.choose("layer", layer)
    link.choose("head", number)


def step(by: int) -> None:
    """Open the head before or after, over the ends of the layers."""
    layer, number = opened()
    place = (layer * site.heads + number + by) % (len(trace.sites) * site.heads)
    open_head(*divmod(place, site.heads))


def follow(event: Choice | Step) -> None:
    """What the reader did in the open head: pinned a token, or asked for another head."""
    if isinstance(event, Choice):
        link.choose("query", event.query)
    else:
        step(event.by)


@st.fragment
def explorer() -> None:
    """Options, numbers, grid and open head: what a click changes, and nothing else."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer, number = opened()
        st.button("Previous head", icon=":material/chevron_left:", on_click=step, args=(-1,), help="Key [ in the views")
        st.button("Next head", icon=":material/chevron_right:", on_click=step, args=(1,), help="Key ] in the views")
        hide = st.toggle("Hide special tokens", key="hide", bind="query-params")
        renormalise = st.toggle(
            "Renormalise",
            key="renormalise",
            bind="query-params",
            disabled=not hide,
            help="Divide each row by what is left after hiding, so that it sums to 1 again.",
        )
        words = st.toggle("Merge word pieces", key="words", bind="query-params")
        root = st.toggle(
            "Square-root colour",
            key="sqrt",
            bind="query-params",
            help="Shows small weights; numbers stay the same.",
        )
    try:
        shown = maps.arrange(trace, hide_special=hide, merge_words=words, renormalise=renormalise)
    except ValueError as error:
        session.show_problem(str(error))
        return
    scale: theme.Scale = "sqrt" if root else "linear"
    row = measures.set_index(["layer", "head"]).loc[(layer, number)]
    parts.cards(parts.head_numbers(row, tokens=len(trace.tokens)))
    left, right = st.columns([2, 3], gap="medium")
    with left:
        grid(
            packing.grid_bytes(
                session.thumbnails(trace, shown),
                tokens=len(shown.labels),
                colours=theme.SEQUENTIAL,
                scale=scale,
                notes=parts.head_notes(measures),
            ),
            key="grid-view",
            on_open=open_head,
        )
        st.caption("Rows are layers, columns heads; each picture is one map. Click one, or walk with the arrow keys.")
    with right:
        weights = shown.apply(trace.attention(layer=layer, head=number))
        head(
            packing.head_bytes(
                weights,
                queries=shown.labels,
                keys=shown.labels,
                colours=theme.SEQUENTIAL,
                layer=layer,
                head=number,
                title=draw.title(layer, number),
                scale=scale,
                chosen=link.chosen("query", default=None, last=len(shown.labels) - 1),
                vmax=float(weights.max()) or 1.0,
            ),
            key="head-view",
            on_event=follow,
        )
        st.caption(parts.what_is_drawn(trace, shown, weights, hide=hide, words=words))
        downloads.head(trace, shown, weights, layer=layer, head=number, scale=scale)


explorer()
with st.expander("What every head does, in numbers"):
    parts.table(measures, name="heads", height=420)
