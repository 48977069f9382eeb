"""Maps side by side as one picture: the same head position through all layers, or a few heads in a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

from inspector.components.pack import thumbnails
from inspector.plots import theme
from inspector.plots.attention import Weights
from inspector.plots.raster import paint, text_line
from inspector.plots.theme import Mode, Scale

_SIDE, _LABEL, _GAP = 192, 22, 16  # pixels, about twice those on the page


def strip(
    maps: Sequence[Weights], *, labels: Sequence[str], mode: Mode = "light", scale: Scale = "sqrt"
) -> Image.Image:
    """Maps [Q, T] of equal shape in a row of thumbnails with a label above each; query 0 on top, key 0 at the left.

    Long maps are max-pooled, so that a single bright cell stays visible. All share one colour range, from 0 (the
    background) to 1, so that layers can be compared; a picture, no plotly figure, for it draws at once at any length.
    Raises ValueError where maps differ in shape, or labels in number.
    """
    shapes = sorted({weights.shape for weights in maps})
    if len(shapes) != 1 or len(labels) != len(maps):
        raise ValueError(
            f"{len(maps)} maps of shapes {shapes} and {len(labels)} labels make no row; "
            "give one label for each map, and maps of one shape"
        )
    queries, keys = shapes[0]
    layers = (np.asarray(weights, np.float32)[None] for weights in maps)
    pictures = thumbnails(layers, count=len(maps), heads=1, queries=queries, keys=keys)[:, 0]  # round(255 sqrt(a))
    colours = paint((pictures / 255.0) ** 2, mode=mode, scale=scale, top=1.0)
    zoom = max(1, _SIDE // max(pictures.shape[1:]))
    height, width = zoom * pictures.shape[1], zoom * pictures.shape[2]

    names = [text_line(label, _LABEL) for label in labels]
    column = max(width, *(name.width for name in names)) + 2
    row = Image.new("RGB", (len(maps) * (column + _GAP) - _GAP, names[0].height + height + 2), theme.BACKGROUND[mode])
    for place, (name, cells) in enumerate(zip(names, colours, strict=True)):
        left = place * (column + _GAP)
        row.paste(theme.TEXT[mode], (left, 0), name)
        row.paste(theme.GRID[mode], (left, names[0].height, left + width + 2, names[0].height + height + 2))
        row.paste(Image.fromarray(cells).resize((width, height), 0), (left + 1, names[0].height + 1))
    return row
