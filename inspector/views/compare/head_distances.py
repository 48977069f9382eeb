"""Comparison of heads: one position in every layer, all heads of a layer, and the distance of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from inspector import head_distances
from inspector.components.grid import grid_bytes, roles
from inspector.components.pairs import matrix_bytes
from inspector.head_distances import HeadDistances
from inspector.plots import head_distances as draw
from inspector.plots import theme
from inspector.views.compare.panels import Panel, key
from inspector.views.components.grid import grid
from inspector.views.components.pairs import pairs
from inspector.views.shell import link, session

MAP = "map-of-heads"


def section(panels: Sequence[Panel], *, scale: theme.Scale) -> None:
    """Strips of one panel's heads, and the distances between all heads of the first."""
    st.subheader("Across layers and heads")
    names = [panel.name for panel in panels]
    bind = link.bind_choice("heads_of", default=names[0], options=names)
    of = st.segmented_control("Heads of panel", names, default=names[0], key="heads_of", bind=bind, required=True)
    _strips(panels[names.index(of)], scale)
    _distances(panels)


def open_in(name: str, layer: int, number: int, call: int = 0) -> None:
    """Show this head in a panel."""
    for setting, value in (("layer", layer), ("call", call), ("head", number), ("mean", False)):
        st.session_state[key(name, setting)] = value


# --- strips ------------------------------------------------------------------------------------------------------


def _strips(panel: Panel, scale: theme.Scale) -> None:
    trace, stream, row = panel.trace, panel.stream, panel.row
    sites = trace.sites_of(stream)

    def open_row(row: int, head: int) -> None:
        open_in(panel.name, sites[row].layer, head, sites[row].call)

    pictures, top = session.thumbnails(trace, panel.whole, stream=stream)
    notes = roles.notes(session.measures(trace).query("stream == @stream"))
    drawn = partial(grid_bytes, tokens=len(panel.whole.keys.labels), scale=scale)
    number = 0 if panel.head is None else panel.head
    across = drawn(
        pictures[:, number][None],
        notes=[[row[number] for row in notes]],
        selected=None if panel.head is None else (0, row),
        names=[f"head {number}"],
        columns="layer",
        labels=[site.name.removeprefix("layer ") for site in sites],
    )
    grid(across, key="strip-layers", on_open=lambda _, row: open_row(row, number))
    within = drawn(
        pictures[row][None],
        notes=[notes[row]],
        selected=None if panel.head is None else (0, panel.head),
        names=[panel.site.name],
    )
    grid(within, key="strip-heads", on_open=lambda _, head: open_row(row, head))
    st.caption(
        f"Above, head {number} of every layer; below, every head of {panel.site.name}. Each picture is one map, from "
        f"0 to {theme.number(top)}, no unit; click one to open it in panel {panel.name}. A head's number means nothing "
        "across layers: training does not align heads."
    )


# --- distances ---------------------------------------------------------------------------------------------------


def _distances(panels: Sequence[Panel]) -> None:
    a, b = panels[:2]
    st.subheader("Which heads are alike")
    with st.spinner("Comparing every head with every other"):
        found: HeadDistances = session.cached(
            (a.trace.key, "head distances", a.stream),
            lambda: head_distances.measure(a.trace, stream=a.stream),
        )
    open_heads = [(panel.site.layer, panel.head, panel.site.call) for panel in (a, b) if panel.head is not None]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        same = b.trace is a.trace and b.stream == a.stream and len(open_heads) == 2
        places = [found.places.index(head) for head in (open_heads if same else open_heads[:1])]
        selected = (places[0], places[1]) if same else None
        pairs(matrix_bytes(found, selected=selected), key="pairs", on_open=partial(_open_pair, found))
        st.caption(_matrix_caption(found))
    with right:
        _map(found, a, places)


def _matrix_caption(found: HeadDistances) -> str:
    rows = "all queries" if found.queries == found.of else f"{found.queries} of {found.of:,} queries, evenly spaced"
    return (
        "Panel A's text: the Jensen-Shannon divergence of every two heads, "
        r"$H(\frac{p+q}{2}) - \frac{H(p)+H(q)}{2}$ with $p$ and $q$ their rows and $H$ the entropy in nats, mean over "
        f"{rows}; 0 to ln 2 = 0.693. Clark et al. 2019, section 6, take the sum over rows: this times "
        f"{found.queries}. Rows and columns are the {len(found.heads)} heads, layer by layer. Click a cell to open its "
        "pair in panels A and B, or walk with the arrow keys and open with Enter."
    )


def _open_pair(found: HeadDistances, row: int, column: int) -> None:
    """Both heads of panel A's model and text."""
    for setting in ("model", "text", "stream"):
        if key("A", setting) in st.session_state:
            st.session_state[key("B", setting)] = st.session_state[key("A", setting)]
    open_in("A", *found.places[row])
    open_in("B", *found.places[column])


def _map(found: HeadDistances, a: Panel, opened: Sequence[int]) -> None:
    measures = session.measures(a.trace).query("stream == @a.stream")
    figure, share = draw.map_of_heads(found, list(measures["label"]), opened=opened, mode=session.mode())
    st.plotly_chart(
        figure,
        width="stretch",
        theme=None,
        key=MAP,
        alt="every head as a point, near the heads that attend alike",
        on_select=_open_point,
        selection_mode="points",
        config={"displaylogo": False, "responsive": True},
    )
    st.caption(
        "Each point is a head, near those that attend alike (Clark et al. 2019, figure 6): classical scaling of these "
        f"distances, of which the plane keeps {share:.0%}. Click one to open it in panel A."
    )


def _open_point() -> None:
    points = st.session_state[MAP]["selection"]["points"]
    if points and "customdata" in points[0]:
        layer, number, call = points[0]["customdata"][:3]
        open_in("A", int(layer), int(number), int(call))
