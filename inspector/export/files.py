"""The view as a file: an interactive page, a picture, a table, or the whole trace.

A file's ending says which. Each is complete in itself and needs no network.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from inspector import maps, mixers, overview, row_statistics
from inspector.components import standalone
from inspector.components.grid import (
    AttentionPictures,
    MixerPictures,
    all_kinds_bytes,
    grid_bytes,
    roles,
    sides,
    widths,
)
from inspector.components.head import MOST_BYTES, HeadMessage, Segments, every
from inspector.components.pack import quantise
from inspector.export import spreadsheet
from inspector.overview import Overview
from inspector.plots import attention, matrices, raster
from inspector.plots.attention import Weights
from inspector.plots.theme import Mode, Scale
from inspector.text import visible
from inspector.trace import Array, AttentionSite, MixerSite, Trace
from inspector.trace import file as trace_file
from inspector.wording import mixers as words
from models.formatting import layer_name
from models.mixers import MixerKind

ENDINGS = (".html", ".png", ".svg", ".csv", ".npz")

SmallPictures = Mapping[tuple[int, MixerKind], Array | None]
_TEXT = 1000  # characters of the text that a page quotes


def write(
    trace: Trace,
    path: str | os.PathLike[str],
    *,
    layer: int,
    head: int | None,
    stream: str | None = None,
    call: int = 0,
    kind: MixerKind | Literal["softmax"] = "softmax",
    mode: Mode = "light",
    scale: Scale = "linear",
) -> None:
    """Write one head (head=None: the mean over the layer's heads) to a file, in the format that its ending says.

    .html: an interactive page with the head's exact weights and the grid of all heads; it follows the reader's light or
    dark. .png, .svg: a picture. .csv: the weights as a matrix. .npz: the whole trace, which `inspector.open` reads.
    kind: as of `Trace.attention`, of a head, or channel, of a layer that mixes tokens in another way.
    Raises ValueError for another ending, for a layer, head or stream out of range, and for a mixer's mean or a map that
    is not what the layer did; it writes nothing then.
    """
    path, ending = Path(path), ending_of(path)
    site = _site(trace, layer, stream, call, kind, head=head)
    weights = _weights(trace, site, head)
    signed = isinstance(site, MixerSite)
    title = f"{trace.model}: {_title(site, head, None) if signed else 'attention'}"
    if ending == ".html":
        page = html(trace, layer=layer, head=head, stream=stream, call=call, kind=kind, scale=scale)
        path.write_text(page, encoding="utf-8")
    elif ending in (".png", ".svg"):
        drawn = matrices.picture(
            weights, queries=site.queries, keys=site.keys, title=title, diverging=signed, scale=scale, mode=mode
        )
        path.write_bytes(drawn.png() if ending == ".png" else drawn.svg().encode())
    elif ending == ".csv":
        path.write_text(csv(weights, queries=site.queries, keys=site.keys), encoding="utf-8", newline="")
    else:
        trace_file.save(trace, path)


def ending_of(path: str | os.PathLike[str]) -> str:
    """The ending that says what to write, in small letters; ValueError for one that is none of ENDINGS."""
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
    kind: MixerKind | Literal["softmax"] = "softmax",
    scale: Scale = "linear",
    window: tuple[slice, slice] | None = None,
    look: Overview | None = None,
    small: SmallPictures | None = None,
    most: int = MOST_BYTES,
) -> str:
    """Build one HTML page that needs no server or network: the head's exact weights, and its stream's grid of heads.

    A click on the grid opens another head where all of them fit the file; else it says that it is not in there. Of a
    layer with a map for each channel the file holds one: that which is open, the first in other layers.
    kind: as of `write`. window: the queries and keys of one head that the file holds of a long text, each start:stop;
    the grid shows all. look: the overview of this trace with pictures of grid.sides cells; small: those of its mixers,
    by layer and kind; None computes them now. most: bytes of the maps of all heads, above which only the open head is
    in the file. Raises ValueError as `write` does.
    """
    site = _site(trace, layer, stream, call, kind, head=head)
    down, across = (slice(0, len(site.queries)), slice(0, len(site.keys))) if window is None or head is None else window
    weights = _weights(trace, site, head) if window is None or head is None else _window(trace, site, head, window)
    queries, keys = site.queries[down], site.keys[across]
    sites = trace.mixing_sites_of(site.stream)
    whole = maps.arrange(trace, stream=site.stream)
    of_token = trace.read_by(site.stream).segments
    two_texts = trace.text_pair is not None and site.stream != "cross"

    def message(weights: Weights, row: int, head: int | None) -> HeadMessage:
        """row: of the grid, which is what a page tells heads apart by."""
        at = sites[row]
        signed = isinstance(at, MixerSite)
        told = None
        if head is not None and not signed:
            told = row_statistics.of_head(trace, whole, layer=at.layer, head=head, stream=at.stream, call=at.call)
        return HeadMessage(
            weights,
            queries=queries,
            keys=keys,
            layer=row,
            head=None if head is None else min(head, at.tiles - 1),
            title=_title(at, head, site.stream if len(trace.streams) > 1 else None),
            scale=scale,
            vmax=raster.largest(weights) if signed else 1.0,
            diverging=signed,
            first=(down.start, across.start),
            rows=told,
            segments=Segments(of_token, of_token) if two_texts else None,
        )

    opened = sites.index(site)
    open_head = message(weights, opened, head).to_bytes()
    title = f"{trace.model}: {words.ALL_MAPS if trace.mixers else 'attention'}"  # each head has a title of its own
    facts = _facts(trace, sites)
    if head is None:  # a mean is no picture of the grid
        return standalone.page(title, open_head, facts=facts)
    if look is None and trace.sites:
        look = overview.measure(trace, sides=sides(trace.mixing_sites))
    if small is None:
        small = small_pictures(trace)
    grid = _grid(trace, site, look, small, scale=scale, selected=(opened, min(head, site.tiles - 1)))
    places = [
        (row, head if row == opened and other.tiles < other.heads else number)
        for row, other in enumerate(sites)
        for number in range(other.tiles)
        if not isinstance(other, MixerSite) or small[other.layer, other.kind] is not None
    ]
    held = None
    if window is None and weights.nbytes * len(places) <= most:
        held = every(message(_weights(trace, sites[row], number), row, number) for row, number in places)
    return standalone.page(title, open_head, grid_bytes=grid, every=held, facts=facts)


def small_pictures(trace: Trace) -> SmallPictures:
    """Make the small pictures of every mixer, by layer and kind, see `mixers.small_picture`."""
    most = sides(trace.mixing_sites)
    sites = {record.site: record for record in trace.mixers}
    return {(at.layer, at.kind): mixers.small_picture(record, side=most[at.stream]) for at, record in sites.items()}


def _site(
    trace: Trace,
    layer: int,
    stream: str | None,
    call: int,
    kind: MixerKind | Literal["softmax"],
    *,
    head: int | None,
) -> AttentionSite | MixerSite:
    """Find what a file is of; ValueError where there is none, or where it has no mean over heads."""
    if kind == "softmax":
        record = trace.record_of(layer, stream, call=call)
        return record.site if head is None else trace.record_of_head(layer, head, stream, call=call).site
    mixer = trace.mixer(layer=layer, kind=kind)
    if head is None:
        raise ValueError(f"{mixer.site.name} has no mean over heads, whose weights have different scales: give head=")
    mixer.of_head(head)
    return mixer.site


def _weights(trace: Trace, site: AttentionSite | MixerSite, head: int | None) -> Weights:
    """Give the map of a head, or of softmax attention the mean over a layer's heads: [Q, T]."""
    if isinstance(site, MixerSite):
        return trace.attention(layer=site.layer, head=head, kind=site.kind)
    return attention.chosen(trace, layer=site.layer, head=head, stream=site.stream, call=site.call)[0]


def _window(trace: Trace, site: AttentionSite | MixerSite, head: int, window: tuple[slice, slice]) -> Weights:
    down, across = window
    if isinstance(site, MixerSite):
        of_head = trace.mixer(layer=site.layer, kind=site.kind).of_head(head)
        cells: Weights = of_head.window(queries=down, keys=across)[0]
        return cells
    return trace.window(layer=site.layer, head=head, stream=site.stream, call=site.call, queries=down, keys=across)


def _title(site: AttentionSite | MixerSite, head: int | None, stream: str | None) -> str:
    if isinstance(site, MixerSite):
        return words.title(site, head or 0)
    return attention.title(site.layer, head, stream, call=site.call)


def _grid(
    trace: Trace,
    site: AttentionSite | MixerSite,
    look: Overview | None,
    small: SmallPictures,
    *,
    scale: Scale,
    selected: tuple[int, int],
) -> bytes:
    """Pack the grid of all heads of a site's stream; of all that mixes its tokens, where that is more."""
    sites, attentions, tokens = trace.mixing_sites_of(site.stream), trace.sites_of(site.stream), len(site.queries)
    drawn = None
    if look is not None and attentions:
        measures = look.measures[look.measures["stream"] == site.stream]
        drawn = AttentionPictures(
            quantise(look.pictures[site.stream]), roles.notes(measures), roles.roles(measures), roles.sortable(measures)
        )
    if drawn is not None and len(attentions) == len(sites):
        return grid_bytes(
            drawn.pictures,
            tokens=tokens,
            scale=scale,
            selected=selected,
            names=[layer_name(other.layer, other.call, short=True) for other in attentions],
            widths=widths(attentions),
            notes=drawn.notes,
            measures=drawn.measures,
            roles=drawn.roles,
        )
    side = sides(trace.mixing_sites)[site.stream]
    of_mixers = {
        row: MixerPictures.of(
            trace.mixer(layer=other.layer, kind=other.kind), small[other.layer, other.kind], side=side, tokens=tokens
        )
        for row, other in enumerate(sites)
        if isinstance(other, MixerSite)
    }
    return all_kinds_bytes(sites, drawn, of_mixers, tokens=tokens, scale=scale, selected=selected)


def _facts(trace: Trace, sites: Sequence[AttentionSite | MixerSite]) -> dict[str, str]:
    facts = {"model": trace.model, "text": _quote(trace.text)}
    if trace.text_pair is not None:
        facts["second text"] = _quote(trace.text_pair)
    if trace.cut is not None:
        facts["cut"] = str(trace.cut)
    if any(isinstance(site, MixerSite) for site in sites):
        facts |= {"maps": words.IN_A_FILE, "grid": words.GRID_OF_ALL}
    return facts


def _quote(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}…"
