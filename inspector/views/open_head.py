"""The open head: its map and lines, whole or in the window of a long text, with what is said of them and the files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector import maps
from inspector.plots import attention as draw_attention
from inspector.plots import flow as draw_flow
from inspector.plots import packing, theme
from inspector.views import downloads, kinds, parts, session
from inspector.views.components.head import Choice, Step, head

if TYPE_CHECKING:
    from inspector.trace import Array

Follow = Callable[[Choice | Step, maps.Groups], None]
Read = Callable[[slice], "Array"]  # token rows of a map -> float32 [rows, T]


def draw(
    inspected: session.Inspected,
    shown: maps.Arrangement,
    *,
    kind: kinds.Kind,
    stream: str,
    layer: int,
    number: int,
    pinned: int | None,
    scale: theme.Scale,
    follow: Follow,
) -> None:
    """Map, lines, caption and files of one head as `shown`; pinned: the position of a query, None for none.

    follow(event, the queries in sight) is called before the run that the reader's act causes.
    """
    trace = inspected.trace
    see = _window_of if shown.is_long else _whole
    try:
        read = kinds.reader(inspected, kind, stream=stream, layer=layer, number=number)
        seen, values, rows = see(shown, read, stream=stream)
    except ValueError as error:
        session.show_problem(str(error))
        return
    named = stream if len({site.stream for site in trace.sites}) > 1 else None
    first_query = shown.queries.members.index(seen.queries.members[0])
    first_key = shown.keys.members.index(seen.keys.members[0])
    drawn = np.where(np.isneginf(values), np.float32(np.nan), values)
    data = packing.head_bytes(
        drawn,
        queries=seen.queries.labels,
        keys=seen.keys.labels,
        colours=theme.DIVERGING if kind.signed else theme.SEQUENTIAL,
        layer=layer,
        head=number,
        title=draw_attention.title(layer, number, named),
        scale=scale,
        chosen=seen.queries.containing(pinned),
        first=(first_query, first_key),
        vmax=float(np.nanmax(np.abs(drawn))) or 1.0,
        diverging=kind.signed,
    )
    head(data, key="head-view", on_event=lambda event: follow(event, seen.queries))
    if kind.name == "weights":
        st.caption(parts.what_is_drawn(trace, shown, rows, stream=stream, layer=layer))
    else:
        st.caption(kinds.caption(kind, trace, values, stream=stream, layer=layer))
    downloads.head(trace, seen, values, layer=layer, head=number, stream=stream, scale=scale, kind=kind)
    if kind.name == "norm-weighted":
        _handed_over(inspected, seen.keys, stream=stream, layer=layer, number=number)


def _handed_over(inspected: session.Inspected, keys: maps.Groups, *, stream: str, layer: int, number: int) -> None:
    norms = kinds.handed_over(inspected, stream=stream, layer=layer, number=number)[keys.positions]
    parts.chart(
        draw_flow.handed_over(norms, keys=keys.labels, mode=session.mode()),
        alt="the length of what each key hands over in this head",
        key="handed-over",
    )
    st.caption(
        r"What each key hands over in this head: $\|v_j W_O\|$, the length that a weight of 1 would move, in the unit "
        "of the residual stream."
    )


def _whole(shown: maps.Arrangement, read: Read, *, stream: str) -> tuple[maps.Arrangement, Array, Array]:
    """What is seen of the head, its values, and the rows that the caption speaks of: all of them."""
    _, values = maps.rows(shown, read, queries=slice(0, len(shown.queries.members)))
    return shown, values, values


def _window_of(shown: maps.Arrangement, read: Read, *, stream: str) -> tuple[maps.Arrangement, Array, Array]:
    """The same for a long text: a window that the reader moves, exact; the grid shows the whole."""
    down, across = _window(shown, stream=stream)
    groups, rows = maps.rows(shown, read, queries=down)
    part = maps.Groups(shown.keys.labels[across], shown.keys.members[across])
    return maps.Arrangement(groups, part, shown.renormalise), rows[:, across], rows


def _window(shown: maps.Arrangement, *, stream: str) -> tuple[slice, slice]:
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
