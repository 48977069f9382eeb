"""A trace in a notebook cell: the page's own grid and open head, drawn by the same code, with no server."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from inspector import export, overview
from inspector.components.grid import sides
from inspector.plots.theme import Scale
from inspector.trace import Trace

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
    scale: Scale = "linear",
    height: int = 900,
) -> NotebookView:
    """The trace as the output of a notebook cell: all heads and one open, the most telling where none is named.

    Another head opens on a click where the maps of all are at most `MOST_BYTES`; else the cell says that it lacks it.
    Raises ValueError for a layer, head or stream out of range, and for a model without softmax attention.
    """
    look = overview.measure(trace, sides=sides(trace.sites))
    stream = trace.sites[0].stream if stream is None else stream
    if layer is None and head is None:
        layer, head = overview.first_head(look, trace, stream=stream)
    if layer is None:
        layer = next((site.layer for site in trace.sites if site.stream == stream), 0)
    page = export.html(
        trace, layer=layer, head=head or 0, stream=stream, call=call, scale=scale, look=look, most=MOST_BYTES
    )
    return NotebookView(page, height)
