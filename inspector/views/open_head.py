"""The open head: its map and lines, whole or in the window of a long text, with what is said of them and the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import streamlit as st

from inspector import maps, rows
from inspector.plots import attention as draw_attention
from inspector.plots import packing, theme
from inspector.views import downloads, link, parts
from inspector.views.components.head import Choice, Step, head

if TYPE_CHECKING:
    from inspector.trace import Array, Trace

Follow = Callable[[Choice | Step, maps.Groups], None]


def draw(
    trace: Trace,
    shown: maps.Arrangement,
    *,
    stream: str,
    layer: int,
    number: int,
    pinned: Sequence[int],
    options: packing.HeadOptions,
    scale: theme.Scale,
    follow: Follow,
) -> None:
    """Map, lines, caption and files of one head as `shown`; pinned: the positions of queries; options: of `options`.

    follow(event, the queries in sight) is called before the run that the reader's act causes.
    """
    see = _window_of if shown.is_long else _whole
    seen, weights, whole_rows = see(trace, shown, stream=stream, layer=layer, number=number)
    named = stream if len({site.stream for site in trace.sites}) > 1 else None
    first_query = shown.queries.members.index(seen.queries.members[0])
    first_key = shown.keys.members.index(seen.keys.members[0])
    data = packing.head_bytes(
        weights,
        queries=seen.queries.labels,
        keys=seen.keys.labels,
        colours=theme.SEQUENTIAL,
        layer=layer,
        head=number,
        title=draw_attention.title(layer, number, named),
        scale=scale,
        chosen=[at for at in map(seen.queries.containing, pinned) if at is not None],
        first=(first_query, first_key),
        vmax=float(weights.max()) or 1.0,
        rows=rows.of_head(trace, seen, layer=layer, head=number, stream=stream),
        segments=_segments(trace, seen, stream=stream),
        options=options,
    )
    head(data, key="head-view", on_event=lambda event: follow(event, seen.queries), on_options=_keep)
    st.caption(parts.what_is_drawn(trace, shown, whole_rows, stream=stream))
    downloads.head(trace, seen, weights, layer=layer, head=number, stream=stream, scale=scale)


def options() -> packing.HeadOptions:
    """What the reader, or the link, chose to see of a head."""
    patterns = packing.HeadOptions.PATTERNS.items()
    return packing.HeadOptions(**{name: link.chosen_text(name, pattern=pattern) for name, pattern in patterns})


def _keep(options: packing.HeadOptions) -> None:
    for name, value in asdict(options).items():
        link.choose(name, value or None)


def _segments(trace: Trace, seen: maps.Arrangement, *, stream: str) -> packing.Segments | None:
    """Which of two texts each token in sight belongs to; None of a text without a pair."""
    if trace.text_pair is None or stream == "cross":
        return None
    of_token = trace.read_by(stream).segments
    queries, keys = (tuple(of_token[group[0]] for group in side.members) for side in (seen.queries, seen.keys))
    return packing.Segments(queries, keys)


def _whole(
    trace: Trace, shown: maps.Arrangement, *, stream: str, layer: int, number: int
) -> tuple[maps.Arrangement, Array, Array]:
    """What is seen of the head, its weights, and the rows that the caption speaks of: all of them."""
    weights = shown.apply(trace.attention(layer=layer, head=number, stream=stream))
    return shown, weights, weights


def _window_of(
    trace: Trace, shown: maps.Arrangement, *, stream: str, layer: int, number: int
) -> tuple[maps.Arrangement, Array, Array]:
    """The same for a long text: a window that the reader moves, exact; the grid shows the whole."""
    down, across = _window(shown, stream=stream)
    groups, whole_rows = maps.rows(trace, shown, layer=layer, head=number, stream=stream, queries=down)
    part = maps.Groups(shown.keys.labels[across], shown.keys.members[across])
    return maps.Arrangement(groups, part, shown.renormalise), whole_rows[:, across], whole_rows


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
