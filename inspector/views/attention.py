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


def open_head(layer: int, number: int) -> None:
    """Called before the run that follows a click, so that this run draws the answer."""
    st.session_state["layer"], st.session_state["head"] = layer, number


def follow(event: Choice | Step) -> None:
    """A pinned token goes into the link; a step opens the head before or after, over the ends of the layers."""
    if isinstance(event, Choice):
        link.put("query", event.query)
        return
    place = st.session_state["layer"] * site.heads + st.session_state["head"] + event.by
    open_head(*divmod(place % (len(trace.sites) * site.heads), site.heads))


@st.fragment
def explorer() -> None:
    """Options, numbers, grid and open head: what a click changes, and nothing else."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = parts.number("Layer", "layer", default=telling[0], last=last_layer)
        number = parts.number("Head", "head", default=telling[1], last=last_head)
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
    label = heads.label(measures)[measures.index[(measures["layer"] == layer) & (measures["head"] == number)][0]]
    parts.cards(parts.head_numbers(row, label, tokens=len(trace.tokens)))
    left, right = st.columns([2, 3], gap="medium")
    with left:
        grid(
            packing.grid_bytes(
                session.thumbnails(trace, shown),
                tokens=len(shown.labels),
                colours=theme.SEQUENTIAL,
                scale=scale,
                selected=(layer, number),
                notes=parts.head_notes(measures, heads.label(measures)),
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
                chosen=link.number("query", last=len(shown.labels) - 1),
                vmax=float(weights.max()) or 1.0,
            ),
            key="head-view",
            on_event=follow,
        )
        st.caption(parts.what_is_drawn(trace, shown, weights, hide=hide, words=words))
        downloads.head(trace, shown, weights, layer=layer, head=number, scale=scale)


explorer()
with st.expander("What every head does, in numbers"):
    parts.table(measures.assign(label=heads.label(measures)), name="heads", height=420)
