"""The part below the maps: how alike heads are, or one position in every layer and all heads of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from inspector import text
from inspector.components.grid import grid_bytes, roles
from inspector.export import python
from inspector.plots import matrices, theme
from inspector.plots.scene import Scene
from inspector.views.compare import matches
from inspector.views.compare.panels import Panel, open_in
from inspector.views.components.grid import grid
from inspector.views.figures import save
from inspector.views.shell import controls, link, overview
from inspector.wording import compare as wording

ALIKE, PLANE, STRIPS = "Which heads are alike", "All heads on a plane", "Across layers and heads"


def section(panels: Sequence[Panel], *, scale: theme.Scale) -> None:
    """The choice of what to look at further, and that part; a link to a panel's strips opens them."""
    if "further" not in st.session_state and "heads_of" in st.query_params and "further" not in st.query_params:
        st.session_state["further"] = STRIPS
    part = controls.bar("Look further", [ALIKE, PLANE, STRIPS], "further")
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

    pictures, top = overview.thumbnails(trace, panel.whole, stream=stream)
    measures = overview.measures(trace, stream=stream)
    notes = roles.notes(measures)
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
    with st.container(gap="xsmall"):
        _files(panel, pictures, top=top, scale=scale, number=number, measures=measures)
        grid(across, key="strip-layers", on_open=lambda _, row: open_row(row, number))
    within = drawn(
        pictures[row][None],
        notes=[notes[row]],
        selected=None if panel.head is None else (0, panel.head),
        names=[panel.site.name],
    )
    grid(within, key="strip-heads", on_open=lambda _, head: open_row(row, head))
    st.caption(wording.strips_read(top=text.number(top), layer=panel.site.name, panel=panel.name, number=number))


def _files(
    panel: Panel,
    pictures: NDArray[np.uint8],
    *,
    top: float,
    scale: theme.Scale,
    number: int,
    measures: pd.DataFrame,
) -> None:
    """Draw the strips' menu; pictures: the thumbnails of the stream's heads [L, H, rows, cols]."""
    sites, row = panel.trace.sites_of(panel.stream), panel.row
    shares = (pictures / np.float32(255)) ** 2  # as pack.quantise made them: the root of the share of the top

    def across(mode: theme.Mode) -> Scene:
        return matrices.grid(
            shares[:, number][None],
            rows=[f"head {number}"],
            title=f"{panel.model}: head {number} of every layer, colours from 0 to {top:g}",
            scale=scale,
            selected=None if panel.head is None else (0, row),
            column_title="layer",
            columns=[site.name.removeprefix("layer ") for site in sites],
            mode=mode,
        )

    def within(mode: theme.Mode) -> Scene:
        return matrices.grid(
            shares[row][None],
            rows=[panel.site.name],
            title=f"{panel.model}: every head of {panel.site.name}, colours from 0 to {top:g}",
            scale=scale,
            selected=None if panel.head is None else (0, panel.head),
            mode=mode,
        )

    at = panel.site
    save.figure(
        f"heads-of-{panel.name.lower()}",
        {"Across layers": across, "Across heads": within},
        table=lambda: measures,
        key="strips",
        about=f"the heads of {panel.name}",
        python=python.strips(panel.trace, panel.whole, layer=at.layer, head=number, stream=panel.stream, call=at.call),
    )
