"""Attention maps as SVG: sharp at any size, its letters are letters. Nothing is fetched, and it holds no script."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Iterator, Sequence

import numpy as np
from PIL import Image

from inspector.plots import theme
from inspector.plots.attention import Weights, check_labels
from inspector.plots.raster import bar_ticks, largest, paint
from inspector.plots.theme import Mode, Scale

_SIDE, _CELL, _BAR = 560, 32, 160  # CSS pixels of the longer side, of a cell at most, of the colour bar at least
_LABEL, _TITLE, _GAP = 12, 16, 8
_LETTER = 0.62  # of the size, the width of a letter of a monospaced font
_LONGEST = 24  # characters of a label
_SIZE = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"')
_RECTANGLES = 4096  # cells; a larger map is one picture in the file, with pixels of its own


def svg(
    weights: Weights,
    *,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    mode: Mode = "light",
    scale: Scale = "linear",
    top: float | None = None,
    quantity: str = "weight",
    diverging: bool = False,
) -> str:
    """A map [Q, T] as an SVG file with token labels, axis titles and a colour bar, in the colours of raster.png.

    Each cell of a map of up to 4,096 is a rectangle that names its weight to 9 digits; those of a larger one are pixels
    of one picture. quantity: what the values are; diverging: they are signed. NaN and -inf are masked cells.

    Raises ValueError where tokens do not fit the weights.
    """
    check_labels(weights, queries, keys)
    cell = min(_CELL, _SIDE / max(weights.shape))
    width, height = cell * len(keys), cell * len(queries)
    top = largest(weights) if top is None else top or 1.0
    side, below = (_room(tokens, cell) for tokens in (queries, keys))
    left, upper = 2 * _GAP + _LABEL + side, 2 * _GAP + _TITLE + _LABEL
    bar = left + width + 2 * _GAP
    right = max(bar + 90, left + len(title) * _TITLE * 0.6)
    bottom = max(upper + height + _GAP + below + _LABEL, upper + _BAR) + 2 * _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:g}" height="{bottom:g}" '
        f'viewBox="0 0 {right:g} {bottom:g}" font-family="monospace" font-size="{_LABEL}" fill="{theme.TEXT[mode]}">',
        f'<rect width="100%" height="100%" fill="{theme.BACKGROUND[mode]}"/>',
        _text(left, _GAP + _TITLE, title, f'font-family="sans-serif" font-size="{_TITLE}" font-weight="600"'),
        *_cells(weights, cell, left, upper, paint(weights, mode=mode, scale=scale, top=top, diverging=diverging)),
        _frame(left, upper, width, height, mode),
        *(
            _text(left - 6, upper + (place + 0.5) * cell + 4, name, 'text-anchor="end"')
            for place, name in _labels(queries, cell)
        ),
        *(
            _turned(left + (place + 0.5) * cell + 4, upper + height + 6, name, "end")
            for place, name in _labels(keys, cell)
        ),
        _turned(_GAP + _LABEL, upper + height / 2, "query", "middle"),
        _text(left + width / 2, upper + height + 6 + below + _LABEL, "key", 'text-anchor="middle"'),
        *_colour_bar(bar, upper, bar_ticks(top, diverging=diverging), mode, scale),
        _turned(bar + 18 + 6 * _LABEL * _LETTER + _LABEL, upper + _BAR / 2, quantity, "middle"),
        "</svg>",
    ]
    return "\n".join(parts)


def beside(pictures: Sequence[str], *, mode: Mode = "light") -> str:
    """Put pictures of `svg` beside each other in one file, in order."""
    sizes = [tuple(map(float, _SIZE.findall(picture)[0])) for picture in pictures]
    lefts = [sum(width for width, _ in sizes[:place]) for place in range(len(sizes))]
    width, height = sum(width for width, _ in sizes), max(height for _, height in sizes)
    placed = [picture.replace("<svg ", f'<svg x="{left:g}" ', 1) for left, picture in zip(lefts, pictures, strict=True)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}">',
            f'<rect width="100%" height="100%" fill="{theme.BACKGROUND[mode]}"/>',
            *placed,
            "</svg>",
        ]
    )


def _cells(weights: Weights, cell: float, left: float, upper: float, colours: np.ndarray) -> Iterator[str]:
    rows, columns = weights.shape
    if weights.size > _RECTANGLES:
        yield _picture(left, upper, columns * cell, rows * cell, colours)
        return
    for row, values in enumerate(weights.tolist()):
        for column, value in enumerate(values):
            red, green, blue = colours[row, column].tolist()
            yield (
                f'<rect x="{left + column * cell:g}" y="{upper + row * cell:g}" width="{cell:g}" height="{cell:g}" '
                f'fill="#{red:02x}{green:02x}{blue:02x}"><title>{value:.9g}</title></rect>'
            )


def _picture(x: float, y: float, width: float, height: float, colours: np.ndarray) -> str:
    file = io.BytesIO()
    Image.fromarray(colours).save(file, format="PNG")
    data = base64.b64encode(file.getvalue()).decode()
    return (
        f'<image x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" preserveAspectRatio="none" '
        f'style="image-rendering: pixelated" href="data:image/png;base64,{data}"/>'
    )


def _colour_bar(x: float, y: float, named: list[tuple[float, float]], mode: Mode, scale: Scale) -> Iterator[str]:
    diverging = named[0][1] < 0
    ramp = np.linspace(1, -1 if diverging else 0, 256)[:, None]
    yield _picture(x, y, 12, _BAR, paint(ramp, mode=mode, scale=scale, top=1, diverging=diverging))
    yield _frame(x, y, 12, _BAR, mode)
    for share, value in named:
        yield _text(x + 18, y + _BAR * (1 - share) + 4, f"{value:.3g}")


def _frame(x: float, y: float, width: float, height: float, mode: Mode) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="none" stroke="{theme.MUTED[mode]}"/>'


def _labels(tokens: Sequence[str], cell: float) -> list[tuple[int, str]]:
    """The tokens that get a label, thinned where cells are smaller than letters."""
    step = max(1, round((_LABEL + 1) / cell + 0.49))
    return [(place, _short(tokens[place])) for place in range(0, len(tokens), step)]


def _short(token: str) -> str:
    shown = theme.visible(token)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def _room(tokens: Sequence[str], cell: float) -> float:
    return max(len(name) for _, name in _labels(tokens, cell)) * _LABEL * _LETTER + 6


def _text(x: float, y: float, text: str, look: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" {look}>{html.escape(text)}</text>'


def _turned(x: float, y: float, text: str, anchor: str) -> str:
    """Write a text upwards, from its end at (x, y) or around that point as its middle."""
    return _text(x, y, text, f'text-anchor="{anchor}" transform="rotate(-90 {x:g} {y:g})"')
