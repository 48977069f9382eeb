"""Two recordings of a text, before and after it was changed: which heads look elsewhere, and where."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from inspector import compare, maps
from inspector.plots import attention, masking, packing, theme
from inspector.trace import Array, Trace
from inspector.views import parts, session
from inspector.views.components.grid import grid
from inspector.views.components.head import Choice, Step, head

MOST = 8  # heads in the table

Open = Callable[[int, int], None]


def maps_of(
    before: Trace,
    after: Trace,
    changed: pd.DataFrame,
    *,
    opened: tuple[int, int],
    open_head: Open,
    pinned: int | None,
) -> tuple[dict[str, Array], Sequence[str]]:
    """Every head by how much it changed, and one head before, after and their difference; what is drawn of it.

    changed: of compare.changed_heads. opened: (layer, head); open_head is called before the run that follows a click.
    pinned: the position of the query whose lines are drawn; None for all.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        hide = st.toggle("Hide special tokens", key="hide", bind="query-params", help="Rows then sum to what is left.")
        words = st.toggle("Merge word pieces", key="words", bind="query-params")
        root = st.toggle("Square-root colour", key="sqrt", bind="query-params", help="Shows small weights.")
    shown = maps.arrange(before, hide_special=hide, merge_words=words)
    renamed = maps.arrange(after, hide_special=hide, merge_words=words)
    left, right = st.columns(2, gap="medium")
    with left:
        _grid(before, after, shown, changed, opened, open_head)
    with right:
        _table(changed)

    layer, number = opened
    a, b = (shown.apply(trace.attention(layer=layer, head=number)) for trace in (before, after))
    names = shown.queries.labels, shown.keys.labels
    apart = compare.difference(b, a, queries=(names[0], names[0]), keys=(names[1], names[1]))
    top = max(float(a.max()), float(b.max())) or 1.0
    title = attention.title(layer, number).lower()
    follow = partial(_step, before, opened, open_head)
    draw = partial(_map, opened=opened, pinned=shown.queries.containing(pinned), on_event=follow)
    scale: theme.Scale = "sqrt" if root else "linear"
    left, right = st.columns(2, gap="medium")
    with left:
        draw(f"Before: {title}", a, shown, key="map-before", top=top, scale=scale)
    with right:
        draw(f"After: {title}", b, renamed, key="map-after", top=top, scale=scale)
    draw(f"After minus before: {title}", apart.values, shown, key="map-change", top=apart.largest or 1.0, signed=True)
    st.caption(
        rf"$A' - A$, weight after minus before, no unit, at most {theme.number(apart.largest)}: indigo where the head "
        f"looks more now, amber where less. Before and after share one scale, from 0 to {theme.number(top)}. "
        f"Row = query, column = key{'.' if pinned is None else '; the row of the changed token is pinned.'}"
    )
    return {"before": a, "after": b, "difference": apart.values}, names[1]


def hidden_states(before: Trace, after: Trace, *, positions: Collection[int]) -> None:
    """How far each token's last hidden state turned; `positions` are the tokens that were changed."""
    parts.chart(
        masking.moved(compare.moved(before, after), tokens=before.tokens, masked=positions, mode=session.mode()),
        alt="1 - cosine of each token's last hidden state before and after",
        key="moved",
    )
    st.caption(
        r"$1 - \cos(h_i, h'_i)$ of each token's last hidden state, $h_i$ before and $h'_i$ after: 0 where both point "
        "the same way, 1 at a right angle. No unit."
    )


def _grid(
    before: Trace, after: Trace, shown: maps.Arrangement, changed: pd.DataFrame, opened: tuple[int, int], open_: Open
) -> None:
    """|after - before| of every head as thumbnails; a click opens one."""

    def apply(trace: Trace) -> list[Array]:
        return [shown.apply(trace.attention(layer=site.layer)) for site in trace.sites]

    pictures, largest = session.cached(
        ("changes", before.key, after.key, shown),
        lambda: masking.changes(list(zip(apply(before), apply(after), strict=True))),
        size=lambda made: made[0].nbytes,
    )
    data = packing.grid_bytes(
        pictures,
        tokens=len(shown.keys.labels),
        colours=theme.SEQUENTIAL,
        scale="sqrt",
        selected=opened,
        notes=parts.change_notes(changed),
    )
    grid(data, key="grid-change", on_open=open_)
    st.caption(
        f"Rows are layers, columns heads: |after − before| of each cell, from 0 to {theme.number(largest)}, on a "
        "square-root scale. Click a head to open it, or walk with the arrow keys; first open is the most changed one."
    )


def _table(changed: pd.DataFrame) -> None:
    """The heads that changed most."""
    st.dataframe(
        changed.head(MOST)[["layer", "head", "jensen_shannon", "total_variation"]],
        hide_index=True,
        column_config={
            "jensen_shannon": st.column_config.NumberColumn("divergence, nats", format="%.3g"),
            "total_variation": st.column_config.NumberColumn("weight moved, share", format="%.3g"),
        },
    )
    st.caption(
        "The heads whose row of the changed token differs most (of several tokens: the mean). Jensen-Shannon "
        "divergence of the row before and after (Lin 1991), 0 to ln 2 = 0.693 nats; weight moved "
        r"$\frac{1}{2}\sum_j |A'_{ij} - A_{ij}|$, 0 to 1."
    )


def _map(
    title: str,
    weights: Array,
    labels: maps.Arrangement,
    *,
    key: str,
    top: float,
    opened: tuple[int, int],
    pinned: int | None,
    on_event: Callable[[Choice | Step], None],
    scale: theme.Scale = "linear",
    signed: bool = False,
) -> None:
    """One map [Q, T], from 0 to `top`; a signed one from -top to top on the diverging scale."""
    data = packing.head_bytes(
        weights,
        queries=labels.queries.labels,
        keys=labels.keys.labels,
        colours=theme.DIVERGING if signed else theme.SEQUENTIAL,
        layer=opened[0],
        head=opened[1],
        title=title,
        scale=scale,
        chosen=pinned,
        vmax=top,
        diverging=signed,
        quantity="difference of weights" if signed else "weight",
    )
    head(data, key=key, on_event=on_event)


def _step(trace: Trace, opened: tuple[int, int], open_head: Open, event: Choice | Step) -> None:
    """The keys [ and ] in a map open the head before or after, over the ends of the layers."""
    if isinstance(event, Step):
        layers, heads = len(trace.sites), trace.sites[0].heads
        open_head(*divmod((opened[0] * heads + opened[1] + event.by) % (layers * heads), heads))
