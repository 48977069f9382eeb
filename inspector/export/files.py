"""The view as a file: an interactive page, a picture, a table, or the whole trace.

A file's ending says which. Each is complete in itself and needs no network.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from inspector.components import standalone
from inspector.components.head import MOST_BYTES, every
from inspector.export import spreadsheet
from inspector.export.stream_messages import SmallPictures, StreamMessages, title_of, weights_of
from inspector.overview import Overview
from inspector.plots import matrices
from inspector.plots.attention import Weights
from inspector.plots.theme import Mode, Scale
from inspector.text import visible
from inspector.trace import AttentionSite, MixerSite, Trace
from inspector.trace import file as trace_file
from inspector.trace.counting import counted
from inspector.wording import mixers as words
from models.mixers import MixerKind

ENDINGS = (".html", ".png", ".svg", ".csv", ".npz")
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
    site, head = place_of(trace, layer, stream, call, kind, head=head)
    layer = site.layer
    weights = weights_of(trace, site, head)
    signed = isinstance(site, MixerSite)
    title = f"{trace.model}: {title_of(site, head, None) if signed else 'attention'}"
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
    site, head = place_of(trace, layer, stream, call, kind, head=head)
    drawn = StreamMessages(trace, site.stream, scale=scale, look=look, small=small)
    row = drawn.sites.index(site)
    open_head = drawn.head(row, head, window=None if head is None else window)
    title = f"{trace.model}: {words.ALL_MAPS if trace.mixers else 'attention'}"  # each head has a title of its own
    facts = _facts(trace, drawn.sites)
    if head is None:  # a mean is no picture of the grid
        return standalone.page(title, open_head.to_bytes(), facts=facts)
    grid = drawn.grid(selected=(row, min(head, site.tiles - 1)))
    places = drawn.places(opened=(row, head))
    held = None
    if window is None and open_head.weights.nbytes * len(places) <= most:
        held = every(drawn.head(*place) for place in places)
    return standalone.page(title, open_head.to_bytes(), grid_bytes=grid, every=held, facts=facts)


def place_of(
    trace: Trace,
    layer: int,
    stream: str | None,
    call: int,
    kind: MixerKind | Literal["softmax"],
    *,
    head: int | None,
) -> tuple[AttentionSite | MixerSite, int | None]:
    """Find what a file or a view is of, and its head from 0; layer and head count from the end where negative.

    Raises ValueError where there is none, and for a mean of a mixer, which has none.
    """
    sites = trace.mixing_sites if stream is None else trace.mixing_sites_of(stream)
    layer = counted(layer, "layer", count=1 + max((site.layer for site in sites), default=0))
    if kind == "softmax":
        site = trace.record_of(layer, stream, call=call).site
        if head is None:
            return site, None
        head = counted(head, "head", count=site.heads)
        return trace.record_of_head(layer, head, stream, call=call).site, head
    mixer = trace.mixer(layer=layer, kind=kind)
    if head is None:
        raise ValueError(f"{mixer.site.name} has no mean over heads, whose weights have different scales: give head=")
    head = counted(head, "head", count=mixer.site.heads)
    mixer.of_head(head)
    return mixer.site, head


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
