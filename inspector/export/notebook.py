"""A trace in a notebook cell: the page's own grid and open head, drawn by the same code, with no server."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from inspector import export, overview
from inspector.components.grid import sides
from inspector.export.files import place_of
from inspector.export.stream_messages import StreamMessages
from inspector.plots.theme import Scale
from inspector.trace import Trace
from inspector.trace.counting import counted
from inspector.wording import notebook as words
from models.mixers import MixerKind

if TYPE_CHECKING:
    from inspector.export.widget import HeadView

MOST_BYTES = 2**19
"""Bytes of the maps of all heads, at most, for a cell that holds them: a notebook keeps all its cells in one file."""


@dataclass(frozen=True)
class NotebookView:
    """A view that a notebook draws as a cell's output. page: the whole HTML document; height: CSS pixels.

    Its plain text, which a notebook stores beside the view, leaves the page out.
    """

    page: str = field(repr=False)
    height: int

    def _repr_html_(self) -> str:
        # A frame of its own: the page's styles and scripts and the notebook's do not meet.
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" title="Headlight" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


def show(
    trace: Trace,
    *,
    layer: int | None = None,
    head: int | None = None,
    stream: str | None = None,
    call: int = 0,
    kind: MixerKind | Literal["softmax"] | None = None,
    scale: Scale = "linear",
    live: bool | None = None,
    height: int = 900,
) -> HeadView | NotebookView:
    """The trace as the output of a notebook cell: all heads and one open, the most telling where none is named.

    kind: as of `Trace.attention`; where it is left out softmax attention, and in a layer without it what mixes its
    tokens. live: True for a `HeadView`, which speaks with Python while the notebook's kernel runs; False for a frame of
    `height` CSS pixels, which needs no kernel; None for a live view where the package anywidget is installed. In a
    frame another head opens on a click where the maps of all are at most `MOST_BYTES`; else it says that it lacks it.
    Raises ValueError for a layer, head or stream out of range, and for a live view without anywidget.
    """
    installed = find_spec("anywidget") is not None
    if live and not installed:
        raise ValueError(words.NO_ANYWIDGET)
    if not isinstance(trace, Trace):
        after = ", such as its .after" if isinstance(getattr(trace, "after", None), Trace) else ""
        raise ValueError(f"show takes a Trace, not a {type(trace).__name__}: give what inspector.record returns{after}")
    stream = trace.streams[0] if stream is None else stream
    if stream not in trace.streams:
        raise ValueError(f"there is no stream {str(stream)[:60]!a}: this model has {', '.join(trace.streams)}")
    look = overview.measure(trace, sides=sides(trace.mixing_sites)) if trace.sites else None
    if layer is None and head is None and kind is None and look is not None:
        layer, head = overview.first_head(look, trace, stream=stream)
    if layer is None:
        sites = [site for site in trace.mixing_sites if site.stream == stream and kind in (None, site.kind)]
        layer = sites[0].layer if sites else 0
    if kind is None:
        sites_of_stream = trace.mixing_sites_of(stream)
        layer = counted(layer, "layer", count=1 + max((site.layer for site in sites_of_stream), default=0))
        kinds = [site.kind for site in sites_of_stream if site.layer == layer]
        kind = kinds[0] if kinds else "softmax"
    site, opened = place_of(trace, layer, stream, call, kind, head=head or 0)
    layer, head = site.layer, opened or 0
    if installed and live is not False:
        from inspector.export.widget import HeadView

        messages = StreamMessages(trace, site.stream, scale=scale, look=look, linked=True)
        return HeadView(messages, row=messages.sites.index(site), head=head)
    page = export.html(
        trace,
        layer=layer,
        head=head,
        stream=stream,
        call=call,
        kind=kind,
        scale=scale,
        look=look,
        most=MOST_BYTES,
    )
    return NotebookView(page, height)
