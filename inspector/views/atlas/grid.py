"""The grid of all heads, coloured by one number over all texts; a click opens the head's card."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inspector.atlas import Atlas
from inspector.views.atlas.colour import Colour
from inspector.views.figures import matrix
from inspector.views.figures.matrix import Panel, Pick


def draw(atlas: Atlas, colour: Colour, *, stream: str, opened: int, on_open: Callable[[int], None], name: str) -> None:
    """Draw the heads of a stream, rows are layers and columns heads; on_open is told a head's row in the atlas."""
    own = atlas.heads[atlas.heads["stream"] == stream]
    sites = list(dict.fromkeys(zip(own["layer"], own["call"], strict=True)))
    values = np.full((len(sites), int(own["head"].max()) + 1), np.nan)
    places = np.full(values.shape, -1)
    rows = [sites.index(site) for site in zip(own["layer"], own["call"], strict=True)]
    values[rows, own["head"]] = colour.values[own.index]
    places[rows, own["head"]] = own.index
    marked = [rows[list(own.index).index(opened)]]

    def picked(pick: Pick) -> None:
        if (place := int(places[pick.row, pick.column])) >= 0:
            on_open(place)

    labels = [f"{layer}" if not call else f"{layer} ({call + 1})" for layer, call in sites]
    matrix.show(
        Panel(values, rows=labels, columns=[str(head) for head in range(values.shape[1])], marked=marked),
        row_title="layer",
        column_title="head",
        name=name,
        key="atlas_grid",
        quantity=colour.quantity,
        numbered="neither",
        top=colour.top,
        on_pick=picked,
        python=colour.python,
    )
