"""Downloads of the open head: a picture, a table, arrays, an interactive page, the trace and Python lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from inspector import export
from inspector.export import python
from inspector.plots import lines as draw_lines
from inspector.plots import matrices, raster
from inspector.sections.section import File
from inspector.text import quoted
from inspector.trace import file as trace_file
from inspector.views.figures import save
from inspector.views.figures.map_files import MapPicture
from inspector.views.shell import available_models, downloads, overview, recording_notes, site_words
from models.formatting import layer_name

if TYPE_CHECKING:
    from inspector.maps import Arrangement, Groups
    from inspector.plots.scene import Scene
    from inspector.plots.theme import Mode, Scale
    from inspector.trace import Array, AttentionSite, Trace
    from inspector.views.attention.quantities import Quantity
    from inspector.views.attention.sink_column import SinkColumn


def open_head(
    trace: Trace,
    shown: Arrangement,
    values: Array,
    *,
    whole: Arrangement,
    site: AttentionSite,
    head: int,
    title: str,
    scale: Scale,
    kind: Quantity,
    sink: SinkColumn | None = None,
    mean: str = "",
    sentence: str = "",
    named: tuple[int | None, int] | None = None,
    pinned: Sequence[int] = (),
) -> None:
    """Draw the menu of the open head: its slides, its files, and the Python lines.

    values: [Q, T] as the reader sees them, between the groups of `shown`: all of `whole`, or of a long text the window
    in sight. sink: the column that is drawn behind them. title: names the open head. mean: what they are a mean of,
    where they are; then there is no page and no Python of the one head. sentence: what the page says of the head;
    named: the cell of `values` that the sentence names, or (None, key); pinned: the rows of `values` that the page
    shows alone in its lines.
    """
    which = re.sub(r"\W+", "-", mean.lower()) if mean else f"{site_words.in_file(site)}-head{head}"
    stream = site.stream
    model = trace.model.replace("/", "-")
    name = f"{model}-{stream}-{which}{kind.suffix}"
    queries, keys = shown.queries.labels, shown.keys.labels
    if sink is not None:
        values, keys = sink.behind(values), sink.named(keys)
    what = mean or title
    model_name = available_models.name(trace.model)
    title = f"{model_name}: {what[0].lower()}{what[1:]}"
    title += "" if kind.name == "weights" else f", {kind.quantity}"
    title += recording_notes.weights(trace.model)
    title += "" if len(queries) == len(trace.read_by(stream).tokens) else ", a part, or tokens hidden or merged"

    top = raster.largest(values)
    picture = MapPicture(title, values, queries, keys, top, scale, kind.signed, kind.quantity, quoted(sentence), named)

    def of_all(mode: Mode) -> Scene:
        pictures, top = overview.thumbnails(trace, whole, stream=stream)
        sites = trace.sites_of(stream)
        return matrices.grid(
            (pictures / np.float32(255)) ** 2,  # as pack.quantise made them: the root of the share of the top
            rows=[layer_name(row.layer, row.call) for row in sites],
            title=f"{model_name}: every head of the {stream}, colours from 0 to {top:g}",
            scale=scale,
            selected=None if mean else (sites.index(site), head),
            mode=mode,
        )

    labels = save.Labels(
        png_help="The map as you see it",
        svg_help="The map as you see it, sharp at any size",
        csv_help=f"{kind.title} as you see them, to the last digit",
    )
    arrays = File(
        f"{name}.npz",
        lambda _: downloads.npz({"values": values, "queries": np.array(queries), "keys": np.array(keys)}),
        f"{kind.title} as you see them, bit by bit: numpy.load() gives values, queries, keys",
    )
    pages, lines = [], ""
    if kind.name == "weights" and not mean:
        look = overview.of(trace)

        def page(mode: Mode) -> str:
            return export.html(
                trace,
                layer=site.layer,
                head=head,
                stream=stream,
                call=site.call,
                scale=scale,
                window=tokens(shown) if whole.is_long else None,
                look=look,
                small=overview.mixer_pictures(trace),
            )

        pages = [File(f"{name}.html", page, page_help(long=whole.is_long))]
        part = _groups(whole, shown) if whole.is_long else None
        lines = python.lines(trace, whole, layer=site.layer, head=head, stream=stream, call=site.call, window=part)
    layouts = {"Map": picture.slide}
    if not kind.signed and max(values.shape) <= draw_lines.MOST:
        shown_lines = replace(picture, weights=_alone(values, pinned)) if pinned else picture
        layouts["Lines"] = shown_lines.lines
    slides = [save.slide(layouts, name=f"{name}-slide", key="head")]
    if kind.name == "weights":
        slides.append(save.slide({"": of_all}, name=f"{model}-{stream}-slide", key="grid", label="Slide of all heads"))
    save.menu(
        picture.files(name, labels=labels),
        [arrays, *pages, recording(trace)],
        slides=slides,
        key="head",
        about=what,
        python=lines,
        labels=labels,
    )


def _alone(values: Array, queries: Sequence[int]) -> Array:
    """Return the values with all rows but these at zero."""
    rows = np.zeros_like(values)
    rows[list(queries)] = values[list(queries)]
    return rows


def page_help(*, long: bool) -> str:
    """Say what the interactive page holds; long: it is of a window."""
    told = "An interactive page that works offline: heads as recorded, nothing hidden or merged"
    return f"{told}; of this long text the window that you see" if long else told


def recording(trace: Trace) -> File:
    """The whole trace as a file."""
    name = f"{trace.model.replace('/', '-')}.npz"
    return File(name, lambda _: _saved(trace), "The whole trace: opens here again, or with inspector.open()", "Trace")


def tokens(shown: Arrangement) -> tuple[slice, slice]:
    """The tokens of the text from the first to the last that are seen."""
    down, across = shown.queries.positions, shown.keys.positions
    return slice(int(down[0]), int(down[-1]) + 1), slice(int(across[0]), int(across[-1]) + 1)


def _groups(whole: Arrangement, shown: Arrangement) -> tuple[slice, slice]:
    """Return the groups of the whole that are shown."""

    def part(every: Groups, seen: Groups) -> slice:
        first = every.members.index(seen.members[0])
        return slice(first, first + len(seen.members))

    return part(whole.queries, shown.queries), part(whole.keys, shown.keys)


def _saved(trace: Trace) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace_file.save(trace, path)
        return path.read_bytes()
