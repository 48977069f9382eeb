"""Downloads of the open head: a picture, a table, arrays, an interactive page, the trace, Python lines and a link."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from inspector import export
from inspector.export import python
from inspector.plots import attention, matrices, raster
from inspector.trace import file as trace_file
from inspector.views.figures import menu
from inspector.views.shell import downloads, recording_notes, session, site_words, widgets
from inspector.wording import attention as said
from inspector.wording import shell
from models.formatting import layer_name

if TYPE_CHECKING:
    from inspector.maps import Arrangement, Groups
    from inspector.plots.scene import Scene
    from inspector.plots.theme import Mode, Scale
    from inspector.trace import Array, AttentionSite, Trace
    from inspector.views.attention.quantities import Quantity

T = TypeVar("T")


def open_head(
    trace: Trace,
    shown: Arrangement,
    values: Array,
    *,
    whole: Arrangement,
    site: AttentionSite,
    head: int,
    scale: Scale,
    kind: Quantity,
    mean: str = "",
) -> None:
    """Draw the open head's slides, and the popover with its files, the Python lines and the link to the same view.

    values: [Q, T] as the reader sees them, between the groups of `shown`: all of `whole`, or of a long text the window
    in sight. mean: what they are a mean of, where they are; then there is no page and no Python of the one head.
    """
    which = re.sub(r"\W+", "-", mean.lower()) if mean else f"{site_words.in_file(site)}-head{head}"
    stream = site.stream
    name = f"{trace.model.replace('/', '-')}-{stream}-{which}{kind.suffix}"
    queries, keys = shown.queries.labels, shown.keys.labels
    window = _tokens(shown) if whole.is_long else None
    as_recorded = kind.name == "weights" and not mean
    what = mean or attention.title(site.layer, head, stream, call=site.call)
    title = f"{trace.model}: {what.lower()}"
    title += "" if kind.name == "weights" else f", {kind.quantity}"
    title += recording_notes.weights(trace.model)
    title += "" if len(queries) == len(trace.read_by(stream).tokens) else ", a part, or tokens hidden or merged"

    def picture(mode: Mode) -> Scene:
        return matrices.picture(
            values,
            queries=queries,
            keys=keys,
            title=title,
            quantity=kind.quantity,
            diverging=kind.signed,
            scale=scale,
            mode=mode,
        )

    def of_head(mode: Mode) -> Scene:
        return matrices.slide(
            [matrices.Plot(values=values, rows=queries, columns=keys)],
            title=title,
            row_title="query",
            column_title="key",
            quantity=kind.quantity,
            top=raster.largest(values),
            diverging=kind.signed,
            scale=scale,
            mode=mode,
        )

    def of_all(mode: Mode) -> Scene:
        pictures, top = session.thumbnails(trace, whole, stream=stream)
        sites = trace.sites_of(stream)
        return matrices.grid(
            (pictures / np.float32(255)) ** 2,  # as pack.quantise made them: the root of the share of the top
            rows=[layer_name(one.layer, one.call) for one in sites],
            title=f"{trace.model}: every head of the {stream}, colours from 0 to {top:g}",
            scale=scale,
            selected=None if mean else (sites.index(site), head),
            mode=mode,
        )

    labels = menu.Labels(
        png_help="The map as you see it",
        svg_help="The map as you see it, sharp at any size",
        csv_help=f"{kind.title} as you see them, to the last digit",
    )
    with st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        menu.slide_button("Slide", of_head, name=name, key="head")
        if kind.name == "weights":
            menu.slide_button(
                "Slide of all heads", of_all, name=f"{trace.model.replace('/', '-')}-{stream}", key="grid"
            )
        saved = st.popover("Save", icon=":material/download:", type=widgets.quiet_button(), key="head-save")
    with saved:
        menu.files(name, picture, labels=labels, csv=partial(_csv, values, queries, keys))
    with saved, st.container(horizontal=True, gap="small"):
        downloads.button(
            f"{name}.npz",
            lambda: downloads.npz({"values": values, "queries": np.array(queries), "keys": np.array(keys)}),
            f"{kind.title} as you see them, bit by bit: numpy.load() gives values, queries, keys",
        )
        if as_recorded:
            look = session.overview(trace)
            downloads.button(
                f"{name}.html",
                lambda: export.html(
                    trace,
                    layer=site.layer,
                    head=head,
                    stream=stream,
                    call=site.call,
                    scale=scale,
                    window=window,
                    look=look,
                ).encode(),
                "An interactive page that works offline: heads as recorded, nothing hidden or merged"
                + ("; of this long text the window that you see" if window else ""),
            )
        downloads.button(
            f"{trace.model.replace('/', '-')}.npz",
            lambda: _saved(trace),
            "The whole trace: opens here again, or with inspector.open()",
            label="Trace",
        )
    with saved:
        if as_recorded:
            st.caption(shell.WITHOUT_PAGE)
            part = _groups(whole, shown) if whole.is_long else None
            lines = python.lines(trace, whole, layer=site.layer, head=head, stream=stream, call=site.call, window=part)
            widgets.python(lines)
        st.caption(said.VIEW_LINK)
        st.code(_link(), language=None, wrap_lines=True)


def _tokens(shown: Arrangement) -> tuple[slice, slice]:
    """The tokens of the text from the first to the last that are seen."""
    down, across = shown.queries.positions, shown.keys.positions
    return slice(int(down[0]), int(down[-1]) + 1), slice(int(across[0]), int(across[-1]) + 1)


def _groups(whole: Arrangement, shown: Arrangement) -> tuple[slice, slice]:
    """Return the groups of the whole that are shown."""

    def part(every: Groups, seen: Groups) -> slice:
        first = every.members.index(seen.members[0])
        return slice(first, first + len(seen.members))

    return part(whole.queries, shown.queries), part(whole.keys, shown.keys)


def _link() -> str:
    """The address of this view."""
    return f"{st.context.url}?{urlencode(st.query_params.to_dict())}"


def _csv(weights: Array, queries: Sequence[str], keys: Sequence[str]) -> bytes:
    return export.csv(weights, queries=queries, keys=keys).encode()


def _saved(trace: Trace) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace_file.save(trace, path)
        return path.read_bytes()
