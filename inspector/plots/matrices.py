"""Matrices as pictures: one or two in large type, 16 by 9, for a slide; or one cell for cell, for a file.

```python
picture(weights, queries=tokens, keys=tokens, title="Layer 3, head 7").png()
slide([Plot(values=weights, rows=tokens, columns=tokens)], title="Layer 3, head 7", ...).svg()
```
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.plots import theme
from inspector.plots.attention import Weights, check_labels
from inspector.plots.raster import bar_ticks, largest, paint
from inspector.plots.scene import SHARP, Box, Cells, Mark, Scene, Text, width, wrapped
from inspector.plots.theme import Mode, Scale
from inspector.text import names_of

WIDTH, HEIGHT = 1280, 720
_MARGIN, _GAP = 48, 56  # around everything; between two plots
_TITLE, _HEADING, _LABEL, _LEAST = 34, 24, 22, 13  # pixels of the letters; labels shrink from _LABEL to _LEAST
_THINNED = 17  # pixels of labels of which some stand alone
_AXIS = 20
_BAR, _BAR_ROOM = 18, 150  # the colour bar's width, and the room for it with its numbers
_CELL = 96  # pixels of a cell, at most
_SIDE, _FILE_CELL, _FILE_BAR = (
    560,
    32,
    160,
)  # in a file: pixels of the longer side, of a cell at most, of the bar at least
_FILE_MARGIN, _FILE_TITLE, _FILE_LABEL = 16, 16, 12


@dataclass(frozen=True, eq=False, kw_only=True)
class Plot:
    """A matrix [R, C] with a label for each row and column; title: over its plot where there are two.

    marked: rows that are framed; borders: columns before which a line stands. named: row and column of a cell that is
    framed, or (None, column) of a whole column.
    """

    values: NDArray[np.floating[Any]]
    rows: Sequence[str]
    columns: Sequence[str]
    title: str = ""
    marked: Sequence[int] = ()
    borders: Sequence[int] = ()
    named: tuple[int | None, int] | None = None


@dataclass(frozen=True)
class _Frame:
    """The sizes that all plots share: letters of the labels, room left of a plot and over it, a cell's sides."""

    label: float
    side: float
    above: float
    cell: tuple[float, float]


def slide(
    plots: Sequence[Plot],
    *,
    title: str,
    row_title: str,
    column_title: str,
    quantity: str,
    top: float,
    diverging: bool = False,
    scale: Scale = "linear",
    kinds: Sequence[str] = (),
    caption: str = "",
    mode: Mode = "light",
) -> Scene:
    """Lay out matrices with a title, labels, axis titles and one colour bar from 0, or -top, to `top`.

    Labels are as large as the cells let them be, and thinned where cells are smaller than letters. kinds: words for the
    values 0, 1, 2, ..., each of which then has its colour in place of the bar. caption: a sentence below the title.
    """
    plots = [replace(plot, rows=names_of(plot.rows), columns=names_of(plot.columns)) for plot in plots]
    above, marks = heading_of(title, caption)
    heading = _HEADING + 18 if any(plot.title for plot in plots) and len(plots) > 1 else 0
    upper = above + heading + _AXIS + 8
    room = (WIDTH - 2 * _MARGIN - _BAR_ROOM - _GAP * (len(plots) - 1)) / len(plots)
    frame = _frame(plots, width=room, height=HEIGHT - upper - _MARGIN)
    wide, high = frame.cell
    widths = [frame.side + wide * len(plot.columns) for plot in plots]
    tallest = high * max(len(plot.rows) for plot in plots)
    left = (WIDTH - sum(widths) - _GAP * (len(plots) - 1) - _BAR_ROOM) / 2
    y = upper + frame.above
    for plot, across in zip(plots, widths, strict=True):
        x = left + frame.side
        if heading:
            marks.append(Text(x, upper - _AXIS - 24, plot.title, _HEADING))
        marks += _plot(plot, x, y, frame, mode=mode, scale=scale, top=top, diverging=diverging)
        muted = theme.MUTED[mode]
        marks.append(Text(x, upper - 12, column_title, _AXIS, muted))
        marks.append(Text(x - 12, y - 12, row_title, _AXIS, muted, anchor="end"))
        left += across + _GAP
    bar = left - _GAP + 36
    if kinds:
        marks += _swatches(bar, y, kinds, size=_AXIS, mode=mode)
        return Scene(WIDTH, HEIGHT, mode, marks)
    marks += _bar(bar, y, min(tallest, 320), quantity, size=_AXIS, mode=mode, scale=scale, top=top, diverging=diverging)
    return Scene(WIDTH, HEIGHT, mode, marks)


def heading_of(title: str, caption: str) -> tuple[float, list[Mark]]:
    """Lay out the title of a slide and the sentence below it; return also where they end."""
    lines = wrapped(caption, _LABEL, WIDTH - 2 * _MARGIN)
    marks: list[Mark] = [Text(_MARGIN, _MARGIN + _TITLE - 6, title, _TITLE, bold=True)] if title else []
    below = _MARGIN + (_TITLE + 24 if title else 0)
    marks += [Text(_MARGIN, below + (at + 0.5) * 1.3 * _LABEL, line, _LABEL) for at, line in enumerate(lines)]
    return below + len(lines) * 1.3 * _LABEL + (12 if lines else 0), marks


def picture(
    weights: Weights,
    *,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    quantity: str = "weight",
    top: float | None = None,
    diverging: bool = False,
    scale: Scale = "linear",
    caption: str = "",
    named: tuple[int | None, int] | None = None,
    mode: Mode = "light",
) -> Scene:
    """Lay out a map [Q, T] with token labels, axis titles and a colour bar, as large as its cells make it.

    Every cell has the same whole number of pixels of the PNG, so that a long text loses none; labels are thinned where
    cells are smaller than letters. quantity: the name of the values. top: the value that gets the last colour, the
    largest where None. diverging: signed values, from -top to top. caption: a sentence below the title; named: as in
    `Plot`. NaN and -inf are masked cells. Raises ValueError where the tokens do not fit the weights.
    """
    check_labels(weights, queries, keys)
    queries, keys = names_of(queries), names_of(keys)
    top = largest(weights) if top is None else top or 1.0
    cell = min(_FILE_CELL, max(1, SHARP * _SIDE // max(weights.shape)) / SHARP)
    longest = _longest(keys, _FILE_LABEL)
    upright = longest + 10 <= cell or cell < 1.15 * _FILE_LABEL
    above = _FILE_LABEL + 12 if upright else math.ceil(1.1 * longest) + 10
    side = math.ceil(max(width(name, _FILE_LABEL) for _, name in _thinned(queries, 1.15 * _FILE_LABEL / cell)))
    x = _FILE_MARGIN + max(side, 40) + 14
    bar, high = x + cell * len(keys) + 24, max(min(cell * len(queries), 320), _FILE_BAR)
    right = max(bar + _BAR + 60, bar + width(quantity, _FILE_LABEL), 1.1 * width(title, _FILE_TITLE))
    under = _FILE_MARGIN + _FILE_TITLE + 14
    lines = wrapped(caption, _FILE_LABEL, (right - _FILE_MARGIN) / 1.1)
    y = under + 1.3 * _FILE_LABEL * len(lines) + (8 if lines else 0) + _FILE_LABEL + above
    frame = _Frame(_FILE_LABEL, side, above, (cell, cell))
    plot, muted = Plot(values=weights, rows=queries, columns=keys, named=named), theme.MUTED[mode]
    marks: list[Mark] = [
        Text(_FILE_MARGIN, _FILE_MARGIN + _FILE_TITLE, title, _FILE_TITLE, bold=True),
        *(
            Text(_FILE_MARGIN, under + (at + 0.7) * 1.3 * _FILE_LABEL, line, _FILE_LABEL)
            for at, line in enumerate(lines)
        ),
        Text(x, y - above - 2, "key", _FILE_LABEL, muted),
        Text(x - 12, y - 10, "query", _FILE_LABEL, muted, anchor="end"),
        *_plot(plot, x, y, frame, mode=mode, scale=scale, top=top, diverging=diverging),
        *_bar(bar, y, high, quantity, size=_FILE_LABEL, mode=mode, scale=scale, top=top, diverging=diverging),
    ]
    bottom = y + max(cell * len(queries), high)
    return Scene(math.ceil(right) + _FILE_MARGIN, math.ceil(bottom) + _FILE_MARGIN, mode, marks)


def grid(
    pictures: NDArray[np.floating[Any]],
    *,
    rows: Sequence[str],
    title: str,
    top: float = 1.0,
    scale: Scale = "sqrt",
    selected: tuple[int, int] | None = None,
    column_title: str = "head",
    columns: Sequence[str] | None = None,
    mode: Mode = "light",
) -> Scene:
    """Lay out the maps of all heads [L, H, Q, T], a row for each layer, a column for each head.

    A place stays empty where its map is NaN throughout. rows: names of the layers. top: the weight that gets the last
    colour, in all maps. selected: row and column of the head that is framed. columns: what each column is called where
    it is not 0, 1, 2. Raises ValueError for names that do not fit.
    """
    layers, heads = pictures.shape[:2]
    columns = [str(head) for head in range(heads)] if columns is None else columns
    if (len(rows), len(columns)) != (layers, heads):
        raise ValueError(f"{len(rows)} and {len(columns)} names do not fit maps of {layers} layers and {heads} heads")
    upper = _MARGIN + _TITLE + 24 + _AXIS + 14
    side = _longest(rows, _LABEL) + 20
    pitch = min((WIDTH - 2 * _MARGIN - side) / heads, (HEIGHT - upper - _MARGIN) / layers)
    left = max(_MARGIN + side, (WIDTH - pitch * heads + side) / 2)
    gap = 0.08 * pitch
    size = min(_LABEL, 0.5 * pitch)
    muted = theme.MUTED[mode]
    marks: list[Mark] = [Text(_MARGIN, _MARGIN + _TITLE - 6, title, _TITLE, bold=True)]
    marks.append(Text(left - 12, upper - 14, column_title, size, muted, anchor="end"))
    for head, name in enumerate(columns):
        marks.append(Text(left + (head + 0.5) * pitch - gap / 2, upper - 14, name, size, muted, anchor="middle"))
    for layer, maps in enumerate(pictures):
        y = upper + layer * pitch
        marks.append(Text(left - 12, y + 0.5 * pitch + 0.3 * size, rows[layer], size, anchor="end"))
        for head, weights in enumerate(maps):
            if np.isnan(weights).all():
                continue
            x, length = left + head * pitch, pitch - gap
            open_head = (layer, head) == selected
            marks.append(Cells(x, y, length, length, paint(weights, mode=mode, scale=scale, top=top)))
            colour = theme.PRIMARY[mode] if open_head else theme.GRID[mode]
            marks.append(Box(x, y, length, length, stroke=colour, weight=3 if open_head else 1))
    return Scene(WIDTH, HEIGHT, mode, marks)


def _frame(plots: Sequence[Plot], *, width: float, height: float) -> _Frame:
    """Choose the largest labels that fit beside their cells; where none do, some labels stand alone, upright."""
    rows, columns = (
        max(len(labels) for labels in axis)
        for axis in ([plot.rows for plot in plots], [plot.columns for plot in plots])
    )

    def frame(label: float, above: float) -> _Frame:
        side = max(_longest([name for plot in plots for name in plot.rows], label), 40) + 14
        across, down = min(_CELL, (width - side) / columns), min(_CELL, (height - above) / rows)
        alike = max(across, down) < 3 * min(across, down)
        return _Frame(label, side, above, (min(across, down),) * 2 if alike else (across, down))

    for size in range(_LABEL, _LEAST - 1, -1):
        # A tenth more: the letters of the SVG are those of another machine.
        turned = 1.1 * _longest([name for plot in plots for name in plot.columns], size) + 10
        for above, least in ((size + 12.0, turned), (turned, 1.15 * size)):
            chosen = frame(size, above)
            if chosen.cell[0] >= least and chosen.cell[1] >= 1.15 * size:
                return chosen
    return frame(_THINNED, _THINNED + 12)


def _longest(labels: Sequence[str], size: float) -> float:
    return max(width(label, size) for label in labels)


def _plot(
    plot: Plot, x: float, y: float, frame: _Frame, *, mode: Mode, scale: Scale, top: float, diverging: bool
) -> Iterator[Mark]:
    wide, high = frame.cell
    across, down = wide * len(plot.columns), high * len(plot.rows)
    colours = paint(plot.values, mode=mode, scale=scale, top=top, diverging=diverging)
    yield Cells(x, y, across, down, colours, plot.values)
    yield Box(x - 1, y - 1, across + 2, down + 2, stroke=theme.MUTED[mode])  # around the cells: it hides none
    for row in plot.marked:
        yield Box(x, y + row * high, across, high, stroke=theme.PRIMARY[mode], weight=2.5)
    for column in plot.borders:
        yield Box(x + column * wide - 1, y, 2, down, fill=theme.PRIMARY[mode])
    if plot.named is not None:
        named_row, named_column = plot.named
        top_left = (x + named_column * wide - 1, y if named_row is None else y + named_row * high - 1)
        sides = (wide + 2, down if named_row is None else high + 2)
        yield Box(*top_left, *sides, stroke=theme.BACKGROUND[mode], weight=5)  # so that it is seen on every colour
        yield Box(*top_left, *sides, stroke=theme.TEXT[mode], weight=2.5)
    size = frame.label
    for row, name in _thinned(plot.rows, 1.15 * size / high):
        yield Text(x - 12, y + (row + 0.5) * high + 0.35 * size, name, size, anchor="end")
    names = plot.columns
    lengths = [width(name, size) for name in names]
    if wide >= 1.15 * size:
        upright = max(lengths) + 10 <= wide
        for column, name in enumerate(names):
            middle = x + (column + 0.5) * wide
            if upright or len(name) == 1:  # a mark is never turned: it would read as another
                yield Text(middle, y - 10, name, size, anchor="middle")
            else:
                yield Text(middle + 0.35 * size, y - 8, name, size, turned=True)
        return
    for column, name in _thinned(plot.columns, (max(lengths) + 14) / wide):
        first = column == 0  # its middle would reach over the rows' title
        yield Text(x if first else x + (column + 0.5) * wide, y - 10, name, size, anchor="start" if first else "middle")


def _thinned(labels: Sequence[str], least: float) -> list[tuple[int, str]]:
    """List the labels that are written, `least` or more places from each other; where some are left out, numbered."""
    step = _round_step(least)
    names = [(place, labels[place]) for place in range(0, len(labels), step)]
    return names if step == 1 else [(place, name if name == str(place) else f"{place} {name}") for place, name in names]


def _round_step(least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, ... that is `least` or more."""
    power: int = 10 ** math.floor(math.log10(max(least, 1)))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= least)


def _swatches(x: float, y: float, kinds: Sequence[str], *, size: float, mode: Mode) -> Iterator[Mark]:
    """Draw the colour of each kind of cell beside its words."""
    colours = paint(np.arange(len(kinds), dtype=np.float32)[:, None, None], mode=mode, top=len(kinds) - 1)
    for at, (kind, colour) in enumerate(zip(kinds, colours, strict=True)):
        top = y + at * 1.6 * size
        yield Cells(x, top, size, size, colour)
        yield Box(x, top, size, size, stroke=theme.MUTED[mode])
        yield Text(x + 1.4 * size, top + 0.85 * size, kind, 0.8 * size)


def _bar(
    x: float,
    y: float,
    height: float,
    quantity: str,
    *,
    size: float,
    mode: Mode,
    scale: Scale,
    top: float,
    diverging: bool,
) -> Iterator[Mark]:
    """Draw the colour bar with its numbers, and the name of what is measured over it."""
    yield Text(x, y - 12, quantity, size, theme.MUTED[mode])
    ramp = np.linspace(1, -1 if diverging else 0, 256)[:, None]
    yield Cells(x, y, _BAR, height, paint(ramp, mode=mode, scale=scale, top=1, diverging=diverging))
    yield Box(x, y, _BAR, height, stroke=theme.MUTED[mode])
    for share, value in bar_ticks(top, diverging=diverging):
        text = f"{value:.3g}".replace("-", "−")
        yield Text(x + _BAR + 10, y + height * (1 - share) + 0.3 * size, text, 0.9 * size)
