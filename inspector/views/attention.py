"""Attention: every layer and head at once, and the open head whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector import heads, maps
from inspector.plots import attention as draw
from inspector.plots import packing, theme
from inspector.views import downloads, link, parts, session
from inspector.views.components.grid import grid
from inspector.views.components.head import Choice, Step, head

if TYPE_CHECKING:
    from inspector.trace import Array

st.title("Attention")
inspected = session.inspected()
trace = inspected.trace
stream = parts.stream(site.stream for site in trace.sites)
sites = [site for site in trace.sites if site.stream == stream]
last_layer, last_head = len(sites) - 1, sites[0].heads - 1
named = stream if len({site.stream for site in trace.sites}) > 1 else None
measures = session.measures(trace).query("stream == @stream")
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
    count = sites[0].heads
    open_head(*divmod((layer * count + number + by) % (len(sites) * count), count))


def follow(event: Choice | Step, queries: maps.Groups) -> None:
    """What the reader did in the open head: pinned a query (kept by its token), or asked for another head."""
    if isinstance(event, Choice):
        link.choose("query", None if event.query is None else queries.members[event.query][0])
    else:
        step(event.by)


if st.session_state.setdefault("pinned_in", trace.text) != trace.text:
    link.choose("query", None)  # another text, other tokens
st.session_state["pinned_in"] = trace.text


def whole(shown: maps.Arrangement, layer: int, number: int) -> tuple[maps.Arrangement, Array, Array]:
    """What is seen of the open head, its weights, and the rows that the caption speaks of: all of them."""
    weights = shown.apply(trace.attention(layer=layer, head=number, stream=stream))
    return shown, weights, weights


def windowed(shown: maps.Arrangement, layer: int, number: int) -> tuple[maps.Arrangement, Array, Array]:
    """The same for a long text: a window that the reader moves, exact; the grid shows the whole."""
    down, across = window(shown)
    groups, rows = maps.rows(trace, shown, layer=layer, head=number, stream=stream, queries=down)
    part = maps.Groups(shown.keys.labels[across], shown.keys.members[across])
    return maps.Arrangement(groups, part, shown.renormalise), rows[:, across], rows


def window(shown: maps.Arrangement) -> tuple[slice, slice]:
    """The queries and keys that the reader chose to see of a long text: along the diagonal, or anywhere."""
    queries, keys = (len(side.members) for side in (shown.queries, shown.keys))
    step = maps.WINDOW // 2
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = parts.number("Queries from", "row", default=0, last=max(queries - maps.WINDOW, 0), step=step)
        apart = st.toggle(
            "Keys apart", key="apart", bind="query-params", help="Keys from another place than the queries."
        )
        column = row
        if apart or stream == "cross":
            column = parts.number("Keys from", "column", default=0, last=max(keys - maps.WINDOW, 0), step=step)
    down, across = slice(row, min(row + maps.WINDOW, queries)), slice(column, min(column + maps.WINDOW, keys))
    st.caption(
        f"A window of this long text: queries {row} to {down.stop - 1} of {queries:,}, keys {column} to "
        f"{across.stop - 1} of {keys:,}, exact. The small pictures show the whole, each cell the largest weight of its "
        "tile."
    )
    return down, across


@st.fragment
def explorer() -> None:
    """Options, numbers, grid and open head: what a click changes, and nothing else."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer, number = opened()
        pinned = link.chosen("query", default=None, last=len(sites[0].queries) - 1)
        link.keep()
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
        shown = maps.arrange(trace, stream=stream, hide_special=hide, merge_words=words, renormalise=renormalise)
    except ValueError as error:
        session.show_problem(str(error))
        return
    scale: theme.Scale = "sqrt" if root else "linear"
    row = measures.set_index(["layer", "head"]).loc[(layer, number)]
    parts.cards(parts.head_numbers(row, tokens=len(sites[0].keys)))
    if hide or words:
        st.caption("These numbers describe the whole map, with nothing hidden or merged.")
    left, right = st.columns([2, 3], gap="medium")
    with left:
        grid(
            packing.grid_bytes(
                session.thumbnails(trace, shown, stream=stream),
                tokens=len(shown.keys.labels),
                colours=theme.SEQUENTIAL,
                scale=scale,
                notes=parts.head_notes(measures),
            ),
            key="grid-view",
            on_open=open_head,
        )
        st.caption(
            "Rows are layers, columns heads; each picture is one map. Click one, or walk with the arrow keys and open "
            "with Enter; [ and ] open the head before and after. In the open head a click pins a token."
        )
    with right:
        seen, weights, caption = windowed(shown, layer, number) if shown.is_long else whole(shown, layer, number)
        first_query = shown.queries.members.index(seen.queries.members[0])
        first_key = shown.keys.members.index(seen.keys.members[0])
        head(
            packing.head_bytes(
                weights,
                queries=seen.queries.labels,
                keys=seen.keys.labels,
                colours=theme.SEQUENTIAL,
                layer=layer,
                head=number,
                title=draw.title(layer, number, named),
                scale=scale,
                chosen=seen.queries.containing(pinned),
                first=(first_query, first_key),
                vmax=float(weights.max()) or 1.0,
            ),
            key="head-view",
            on_event=lambda event: follow(event, seen.queries),
        )
        st.caption(parts.what_is_drawn(trace, shown, caption, stream=stream, hide=hide, words=words))
        downloads.head(trace, seen, weights, layer=layer, head=number, stream=stream, scale=scale)


explorer()
with st.expander("What every head does, in numbers"):
    parts.table(measures, name="heads", height=420)
