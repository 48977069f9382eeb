"""The part below the maps: how alike heads are, or one position in every layer and all heads of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from inspector.components.grid import grid_bytes, roles
from inspector.plots import theme
from inspector.views.compare import matches
from inspector.views.compare.panels import Panel, open_in
from inspector.views.components.grid import grid
from inspector.views.shell import link, session, widgets

ALIKE, PLANE, STRIPS = "Which heads are alike", "All heads on a plane", "Across layers and heads"


def section(panels: Sequence[Panel], *, scale: theme.Scale) -> None:
    """The choice of what to look at further, and that part; a link to a panel's strips opens them."""
    if "further" not in st.session_state and "heads_of" in st.query_params and "further" not in st.query_params:
        st.session_state["further"] = STRIPS
    part = widgets.bar("Look further", [ALIKE, PLANE, STRIPS], "further")
    if part == STRIPS:
        _strips(panels, scale)
    elif part == PLANE:
        matches.plane(panels[0], panels[1])
    else:
        matches.section(panels)


def _strips(panels: Sequence[Panel], scale: theme.Scale) -> None:
    names = [panel.name for panel in panels]
    bind = link.bind_choice("heads_of", default=names[0], options=names)
    of = st.segmented_control("Heads of panel", names, default=names[0], key="heads_of", bind=bind, required=True)
    panel = panels[names.index(of)]
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
