"""The view as a file: an interactive page, a picture, a table, or the whole trace.

A file's ending says which. Each is complete in itself and needs no network.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from inspector import maps, overview, row_statistics
from inspector.components import standalone
from inspector.components.grid import grid_bytes, roles, sides
from inspector.components.head import MOST_BYTES, HeadMessage, Segments, every
from inspector.components.pack import quantise
from inspector.export import spreadsheet
from inspector.overview import Overview
from inspector.plots import attention, matrices
from inspector.plots.attention import Weights
from inspector.plots.theme import Mode, Scale
from inspector.text import visible
from inspector.trace import AttentionSite, Trace
from inspector.trace import file as trace_file
from models.formatting import layer_name

ENDINGS = (".html", ".png", ".csv", ".npz")

_TEXT = 1000  # characters of the text that a page quotes


def write(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    layer: int,
    head: int | None,
    stream: str | None = None,
    call: int = 0,
    mode: Mode = "light",
    scale: Scale = "linear",
) -> None:
    """Write one head (head=None: the mean over the layer's heads) to a file, in the format that its ending says.

    .html: an interactive page with the head's exact weights and the grid of all heads; it follows the reader's light or
    dark. .png: a picture. .csv: the weights as a matrix. .npz: the whole trace, which `inspector.open` reads.
    Raises ValueError for another ending, or a layer, head or stream out of range, and writes nothing then.
    """
    path, ending = Path(path), ending_of(path)
    weights, queries, keys = attention.chosen(trace, layer=layer, head=head, stream=stream, call=call)
    title = f"{trace.model}: attention"  # each head has a title of its own
    if ending == ".html":
        page = html(trace, layer=layer, head=head, stream=stream, call=call, scale=scale)
        path.write_text(page, encoding="utf-8")
    elif ending == ".png":
        drawn = matrices.picture(weights, queries=queries, keys=keys, title=title, mode=mode, scale=scale)
        path.write_bytes(drawn.png())
    elif ending == ".csv":
        path.write_text(csv(weights, queries=queries, keys=keys), encoding="utf-8", newline="")
    else:
        trace_file.save(trace, path)


def ending_of(path: str | os.PathLike[str]) -> str:
    """The ending that says what to write, in small letters; ValueError for one that is none of the four."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise ValueError(f"{Path(path).name!a} does not say what to write: end it in {', '.join(ENDINGS)}")
    return ending


def csv(weights: Weights, *, queries: Sequence[str], keys: Sequence[str]) -> str:
    """A map [Q, T] as a matrix: a header of key tokens, a first column of query tokens, the weights to 9 digits.

    Nine digits read back to the same float32. A token goes with its position, "3 sat": tokens repeat, and no cell can
    begin with the = + - @ that a spreadsheet would take for a formula. Invisible characters are written as U+XXXX.
    """
    names = [[f"{position} {visible(token)}" for position, token in enumerate(side)] for side in (queries, keys)]
    numbers = ([float(f"{weight:.9g}") for weight in row] for row in weights.tolist())
    lines = ((name, *row) for name, row in zip(names[0], numbers, strict=True))
    return spreadsheet.rows(["query / key", *names[1]], lines)


def html(
    trace: Trace,
    *,
    layer: int,
    head: int | None,
    stream: str | None = None,
    call: int = 0,
    scale: Scale = "linear",
    window: tuple[slice, slice] | None = None,
    look: Overview | None = None,
    most: int = MOST_BYTES,
) -> str:
    """Build one HTML page that needs no server or network: the head's exact weights, and its stream's grid of heads.

    A click on the grid opens another head where all of them fit the file; else it says that it is not in there.
    window: the queries and keys of one head that the file holds of a long text, each start:stop; the grid shows all.
    look: the overview of this trace with pictures of grid.sides cells; None computes it now.
    most: bytes of the maps of all heads, above which only the open head is in the file.
    """
    site = trace.record_of(layer, stream, call=call).site
    if window is None or head is None:
        weights, queries, keys = attention.chosen(trace, layer=layer, head=head, stream=stream, call=call)
        first = (0, 0)
    else:
        down, across = window
        weights = trace.window(layer=layer, head=head, stream=stream, call=call, queries=down, keys=across)
        queries, keys = site.queries[down], site.keys[across]
        first = (down.start, across.start)
    sites = trace.sites_of(site.stream)
    whole = maps.arrange(trace, stream=site.stream)
    of_token = trace.read_by(site.stream).segments
    two_texts = trace.text_pair is not None and site.stream != "cross"

    def message(weights: Weights, row: int, head: int | None) -> HeadMessage:
        """row: of the grid, which is what a page tells heads apart by."""
        at = sites[row]
        title = attention.title(at.layer, head, stream, call=at.call)
        told = (
            None
            if head is None
            else row_statistics.of_head(trace, whole, layer=at.layer, head=head, stream=at.stream, call=at.call)
        )
        return HeadMessage(
            weights,
            queries=queries,
            keys=keys,
            layer=row,
            head=head,
            title=title,
            scale=scale,
            first=first,
            rows=told,
            segments=Segments(of_token, of_token) if two_texts else None,
        )

    facts = {"model": trace.model, "text": _quote(trace.text)}
    if trace.text_pair is not None:
        facts["second text"] = _quote(trace.text_pair)
    if trace.cut is not None:
        facts["cut"] = str(trace.cut)
    opened = sites.index(site)
    open_head = message(weights, opened, head).to_bytes()
    title = f"{trace.model}: attention"  # each head has a title of its own
    if head is None:  # a mean is no picture of the grid
        return standalone.page(title, open_head, facts=facts)
    look = look or overview.measure(trace, sides=sides(trace.sites))
    pictures = quantise(look.pictures[site.stream])
    measures = look.measures.query("stream == @site.stream")
    grid = grid_bytes(
        pictures,
        tokens=len(site.queries),
        scale=scale,
        selected=(opened, head),
        names=[layer_name(site.layer, site.call, short=True) for site in sites],
        notes=roles.notes(measures),
        measures=roles.sortable(measures),
        roles=roles.roles(measures),
    )
    places = [(row, number) for row, other in enumerate(sites) for number in range(other.heads)]
    held = None
    if window is None and weights.nbytes * len(places) <= most:
        held = every(message(_map(trace, sites[row], number), row, number) for row, number in places)
    return standalone.page(title, open_head, grid_bytes=grid, every=held, facts=facts)


def _map(trace: Trace, site: AttentionSite, head: int) -> Weights:
    return trace.attention(layer=site.layer, head=head, stream=site.stream, call=site.call)


def _quote(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}…"
