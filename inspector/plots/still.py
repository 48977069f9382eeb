"""A chart of lines, points and bars as a still picture: the plotly figure of the page laid out as a Scene, for a file.

```python
still(Chart(table, "layer", "share", "bars")(mode="light"), mode="light").svg()
```
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.scene import Box, Line, Mark, Scene, Text, width
from inspector.plots.theme import Mode
from inspector.text import cut, number

WIDTH, HEIGHT = 640, 300
_LETTER, _TITLE = 12, 13
_LEGEND = 22  # pixels of a row of the legend
_TICKS, _MOST_TICKS = 5, 16
_ANCHORS: dict[str, Literal["start", "middle", "end"]] = {"left": "end", "center": "middle", "right": "start"}
_DASHES = {"dash": (9, 5), "dot": (2, 4), "dashdot": (9, 4), "longdash": (16, 6), "longdashdot": (16, 4)}


@dataclass(frozen=True)
class Axis:
    """An axis: data from `low` to `high` (their log10 on a log axis) over pixels `begin` to `end`, with its ticks."""

    low: float
    high: float
    begin: float
    end: float
    log: bool
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """Return the pixel of a value; NaN for what a log axis cannot hold."""
        if self.log:
            value = math.log10(value) if value > 0 else math.nan
        return self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin)


def still(figure: go.Figure, *, mode: Mode) -> Scene:
    """Lay out a figure of one plot; raises ValueError for what is no line, point or bar on one pair of axes."""
    traces = list(figure.data)
    if kinds := sorted({trace.type for trace in traces} - {"scatter", "bar"}):
        raise ValueError(f"a still picture holds lines, points and bars, not {kinds[0]}")
    if any((trace.xaxis, trace.yaxis) not in ((None, None), ("x", "y")) for trace in traces):
        raise ValueError("a still picture has one pair of axes")
    if not traces:
        raise ValueError("there is nothing to draw")
    layout = figure.layout
    names = [(trace, _words(trace.name)) for trace in traces if trace.name and trace.showlegend is not False]
    legend = _legend([pair for pair in names if pair[1]] if len(names) > 1 else [], mode)
    top = 12 + _LEGEND * (1 + max((row for row, _ in legend), default=-1))
    height = int(layout.height or HEIGHT) + top
    bars = [trace for trace in traces if trace.type == "bar"]
    sideways = bool(bars) and bars[0].orientation == "h"
    placed = {id(trace): _placed(trace, bars, layout, sideways=sideways) for trace in traces}
    labels = [_label(text) for text in _ticktext(layout.yaxis, traces, "y")]
    left = 24 + _LETTER + max([width(text, _LETTER) for text in labels], default=34)
    below: float = 2 * _LETTER + 26
    across = [_label(text) for text in _ticktext(layout.xaxis, traces, "x")]
    room = (WIDTH - left - 16) / max(len(across), 1)
    turned = any(width(text, _LETTER) > room for text in across)
    if turned:
        below += max(width(text, _LETTER) for text in across) - _LETTER
    x = _axis(layout.xaxis, traces, "x", placed, (left, WIDTH - 16), most=int((WIDTH - left) // 60))
    y = _axis(layout.yaxis, traces, "y", placed, (height - below, top + 4), most=_TICKS + 1)
    marks: list[Mark] = [*_frame(x, y, layout, mode=mode, turned=turned, height=height)]
    for trace in traces:
        marks += _bars(placed[id(trace)], trace, x, y, sideways) if trace.type == "bar" else _line(trace, x, y, mode)
        marks += _beside(trace, x, y, mode) if trace.type == "scatter" else ()
    marks += _across(layout, x, y, mode)
    marks += [mark for _, row in legend for mark in row]
    return Scene(WIDTH, height, mode, marks)


# --- where things stand -----------------------------------------------------------------------------------------------


def _placed(trace: Any, bars: Sequence[Any], layout: Any, *, sideways: bool) -> list[tuple[float, float, float, float]]:
    """Return each bar as (middle, half its width, from, to), along the axis of places and that of values."""
    if trace.type != "bar":
        return []
    places, values = (trace.y, trace.x) if sideways else (trace.x, trace.y)
    numbers = _positions(places, bars, "y" if sideways else "x")
    pitch = min((b - a for a, b in pairwise(sorted(set(_all_positions(bars, sideways))))), default=1.0)
    wide = 0.7 * pitch
    stacked = layout.barmode in ("relative", "stack")
    grouped = layout.barmode in (None, "group") and len(bars) > 1
    at, each = bars.index(trace), wide / len(bars) if grouped else wide
    placed = []
    for place, value in zip(numbers, _floats(values), strict=True):
        base = sum(_before(bars[:at], place, value, sideways)) if stacked else 0.0
        middle = place - wide / 2 + (at + 0.5) * each if grouped else place
        placed.append((middle, each / 2, base, base + value))
    return placed


def _before(bars: Sequence[Any], place: float, value: float, sideways: bool) -> Iterator[float]:
    """Yield the bars that a stacked one stands on: those at its place with its sign."""
    for bar in bars:
        places, values = (bar.y, bar.x) if sideways else (bar.x, bar.y)
        for other, size in zip(_positions(places, bars, "y" if sideways else "x"), _floats(values), strict=True):
            if other == place and size * value > 0:
                yield size


def _all_positions(bars: Sequence[Any], sideways: bool) -> list[float]:
    name = "y" if sideways else "x"
    return [at for bar in bars for at in _positions(getattr(bar, name), bars, name)]


def _categories(traces: Sequence[Any], name: str) -> list[str]:
    """List the words along an axis in the order in which they come; [] for numbers."""
    values = [value for trace in traces for value in (() if getattr(trace, name) is None else getattr(trace, name))]
    return list(dict.fromkeys(values)) if any(isinstance(value, str) for value in values) else []


def _positions(values: Any, traces: Sequence[Any], name: str) -> list[float]:
    words = _categories(traces, name)
    return [float(words.index(value)) for value in values] if words else _floats(values)


def _floats(values: Any) -> list[float]:
    return [math.nan if value is None else float(value) for value in np.asarray(values, dtype=object)]


def _axis(axis: Any, traces: Sequence[Any], name: str, placed: Any, ends: tuple[float, float], *, most: int) -> Axis:
    log = axis.type == "log"
    words = _categories(traces, name)
    values = [at for trace in traces for at in _positions(getattr(trace, name), traces, name)]
    sideways = any(trace.type == "bar" and trace.orientation == "h" for trace in traces)
    for edges in placed.values():
        for middle, half, start, end in edges:
            values += [start, end] if (name == "x") == sideways else [middle - half, middle + half]
    values = [
        math.log10(value) if log else value for value in values if math.isfinite(value) and (not log or value > 0)
    ]
    if axis.range is not None:
        low, high = map(float, axis.range)
    else:
        low, high = min(values, default=0.0), max(values, default=1.0)
        spare = 0.04 * (high - low)
        if any(placed.values()):  # bars stand on 0, and fill their places
            of_values = (name == "x") == sideways
            low, high = (low - spare * (low < 0), high + spare * (high > 0)) if of_values else (low, high)
        else:
            low, high = low - spare, high + spare
        if axis.rangemode == "tozero" and not log:
            low, high = min(low, 0.0), max(high, 0.0)
    if high == low:
        low, high = low - 0.5, high + 0.5
    begin, end = ends if axis.autorange != "reversed" else ends[::-1]
    if axis.tickvals is not None:
        texts = [_words(text) for text in axis.ticktext or ()] or [_digits(value) for value in axis.tickvals]
        ticks = [(float(value), text) for value, text in zip(axis.tickvals, texts, strict=True)]
    elif words:
        step = math.ceil(len(words) / _MOST_TICKS)
        ticks = [(float(at), _words(words[at])) for at in range(0, len(words), step)]
    elif log:
        step = max(1, math.ceil((high - low) / max(most, 1)))
        ticks = [(10.0**power, _digits(10.0**power)) for power in range(math.ceil(low), math.floor(high) + 1, step)]
    else:
        ticks = [(value, _digits(value)) for value in _round(low, high, most)]
    if log and axis.tickvals is None and not ticks:
        ticks = [(10**low, number(10**low)), (10**high, number(10**high))]  # no power of ten lies between
    shown = [
        (value, text) for value, text in ticks if low - 1e-9 <= (math.log10(value) if log else value) <= high + 1e-9
    ]
    return Axis(low, high, begin, end, log, tuple(shown))


def _round(low: float, high: float, most: int) -> list[float]:
    """List round numbers from low to high, at most `most` and one."""
    rough = (high - low) / max(most, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= rough)
    return [round(at * step, 12) for at in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _digits(value: Any) -> str:
    return f"{float(value):,.6g}".replace("-", "−")


def _ticktext(axis: Any, traces: Sequence[Any], name: str) -> list[str]:
    return [_words(text) for text in axis.ticktext or _categories(traces, name)]


def _words(text: Any) -> str:
    """Read plotly's text: tags away, a break as a space."""
    return html.unescape(re.sub(r"<[^>]+>", "", str(text or "").replace("<br>", " ")))


def _label(text: str) -> str:
    return cut(text) if len(text) > 28 else text


# --- marks ------------------------------------------------------------------------------------------------------------


def _frame(x: Axis, y: Axis, layout: Any, *, mode: Mode, turned: bool, height: float) -> Iterator[Mark]:
    muted, grid = theme.MUTED[mode], theme.GRID[mode]
    left, right = sorted((x.begin, x.end))
    top, bottom = sorted((y.begin, y.end))
    for value, text in y.ticks if _seen(layout.yaxis) else ():
        yield Line(left, y.at(value), right, y.at(value), grid, 1)
        yield Text(left - 8, y.at(value) + 4, _label(text), _LETTER, muted, anchor="end")
    for value, text in x.ticks if _seen(layout.xaxis) else ():
        yield Line(x.at(value), bottom, x.at(value), bottom + 4, muted, 1)
        if turned:
            far = bottom + 8 + width(_label(text), _LETTER)
            yield Text(x.at(value) + 4, far, _label(text), _LETTER, muted, turned=True)
        else:
            yield Text(x.at(value), bottom + 18, _label(text), _LETTER, muted, anchor="middle")
    if _seen(layout.xaxis):
        yield Line(left, bottom, right, bottom, muted, 1)
    if _seen(layout.yaxis):
        yield Line(left, top, left, bottom, muted, 1)
    yield Text((left + right) / 2, height - 8, _words(layout.xaxis.title.text), _TITLE, anchor="middle")
    yield Text(16, (top + bottom) / 2, _words(layout.yaxis.title.text), _TITLE, anchor="middle", turned=True)


def _seen(axis: Any) -> bool:
    return axis.visible is not False


def _colours(trace: Any, count: int) -> list[str | None]:
    """Return a colour for each place, None where plotly would choose one."""
    colour = trace.marker.color if trace.marker.color is not None else trace.line.color
    return [colour] * count if isinstance(colour, str) or colour is None else list(colour)


def _outlines(trace: Any, count: int) -> list[tuple[str, float]]:
    """Return the colour and the width of each place's outline, which few traces have."""
    line = trace.marker.line
    widths = list(line.width) if isinstance(line.width, list | tuple) else [line.width or 0] * count
    colours = [line.color] * count if isinstance(line.color, str) else list(line.color or [""] * count)
    return [(colour if weight else "", weight) for colour, weight in zip(colours, widths, strict=True)]


def _bars(placed: Any, trace: Any, x: Axis, y: Axis, sideways: bool) -> Iterator[Mark]:
    base = 10.0 ** (x.low if sideways else y.low)
    texts = trace.text if trace.text is not None else [""] * len(placed)
    outlines = _outlines(trace, len(placed))
    for (middle, half, start, end), colour, (ink, weight), text in zip(
        placed, _colours(trace, len(placed)), outlines, texts, strict=True
    ):
        if not math.isfinite(end):
            continue
        places, values = (y, x) if sideways else (x, y)
        a, b = sorted((places.at(middle - half), places.at(middle + half)))
        c, d = sorted((values.at(start if not values.log else base), values.at(end)))
        box = (c, a, d - c, b - a) if sideways else (a, c, b - a, d - c)
        yield Box(*box, fill=colour or "", stroke=ink, weight=weight)
        if text and sideways:
            yield Text(d + 4, (a + b) / 2 + 4, _label(_words(text)), 11)
        elif text:
            yield Text((a + b) / 2, c - 4, _label(_words(text)), 11, anchor="middle")


def _line(trace: Any, x: Axis, y: Axis, mode: Mode) -> Iterator[Mark]:
    points = [
        (x.at(across), y.at(up)) for across, up in zip(_positions(trace.x, [trace], "x"), _floats(trace.y), strict=True)
    ]
    drawn = trace.mode or "lines"
    colours = _colours(trace, len(points))
    if "lines" in drawn:
        colour = trace.line.color or (colours[0] if colours else None) or theme.PRIMARY[mode]
        yield from _dashed(points, colour, trace.line.width or 2, _DASHES.get(trace.line.dash or ""))
    if "markers" in drawn:
        size = trace.marker.size if isinstance(trace.marker.size, int | float) else 6
        for (across, up), colour, (ink, weight) in zip(points, colours, _outlines(trace, len(points)), strict=True):
            if math.isfinite(across) and math.isfinite(up):
                fill = colour if isinstance(colour, str) else theme.PRIMARY[mode]
                place = across - size / 2, up - size / 2
                yield Box(*place, size, size, fill=fill, stroke=ink, weight=weight, radius=size / 2)


def _beside(trace: Any, x: Axis, y: Axis, mode: Mode) -> Iterator[Text]:
    """Yield the words beside a trace's points."""
    if "text" not in (trace.mode or "") or trace.text is None:
        return
    up, size = _floats(trace.y), trace.textfont.size or _LETTER
    points = zip(_positions(trace.x, [trace], "x"), up, strict=True)
    places = trace.textposition or "middle center"
    places = [places] * len(up) if isinstance(places, str) else places
    point = trace.marker.size if isinstance(trace.marker.size, int | float) else 6
    away = 6 + (point / 2 if "markers" in trace.mode else 0)
    lower = {"top": -away, "middle": size / 3, "bottom": away + size}
    for (across, along), text, place in zip(points, trace.text, places, strict=True):
        upright, side = place.split()
        if not (words := _words(text).strip()) or not math.isfinite(across) or not math.isfinite(along):
            continue
        shift = {"left": -away, "center": 0, "right": away}[side]
        yield Text(
            x.at(across) + shift,
            y.at(along) + lower[upright],
            words,
            size,
            trace.textfont.color or theme.TEXT[mode],
            anchor=_ANCHORS[side],
            bold=text.startswith("<b>"),
        )


def _dashed(
    points: Sequence[tuple[float, float]], colour: str, weight: float, dash: tuple[int, int] | None
) -> Iterator[Line]:
    """Yield a line through the points; dashed: strokes and gaps of these lengths, which go on round corners."""
    gone = 0.0
    for (a, b), (c, d) in pairwise(points):
        if not all(map(math.isfinite, (a, b, c, d))):
            continue
        long = math.hypot(c - a, d - b)
        if dash is None or not long:
            yield Line(a, b, c, d, colour, weight)
            continue
        period, along = sum(dash), 0.0
        while along < long:
            phase = (gone + along) % period
            if phase < dash[0]:
                stop = min(along + dash[0] - phase, long)
                share, end = along / long, stop / long
                yield Line(
                    a + share * (c - a), b + share * (d - b), a + end * (c - a), b + end * (d - b), colour, weight
                )
            else:
                stop = min(along + period - phase, long)
            along = stop
        gone += long


def _across(layout: Any, x: Axis, y: Axis, mode: Mode) -> Iterator[Mark]:
    """Yield the lines that cross the plot, and their labels."""
    for shape in layout.shapes:
        if shape.type != "line":
            continue
        upright = shape.x0 == shape.x1
        at = x.at(float(shape.x0)) if upright else y.at(float(shape.y0))
        ends = [(at, y.begin), (at, y.end)] if upright else [(x.begin, at), (x.end, at)]
        yield from _dashed(ends, shape.line.color or theme.MUTED[mode], 1.5, _DASHES["dot"])
    for note in layout.annotations:
        if note.text and note.xref in (None, "x") and isinstance(note.x, int | float):
            place = 10.0 ** float(note.x) if x.log else float(note.x)  # words have their logarithm's place
            top = min(y.begin, y.end) + 10 - (note.yshift or 0)
            yield Text(x.at(place) + 4, top, _words(note.text), 11, theme.MUTED[mode])


def _legend(names: Sequence[tuple[Any, str]], mode: Mode) -> list[tuple[int, list[Mark]]]:
    """Lay out the names of the traces in as many rows as they need: (row, marks) each."""
    rows: list[tuple[int, list[Mark]]] = []
    at, row = 16.0, 0
    for trace, name in names:
        wide = 30 + width(name, _TITLE) + 18
        if at + wide > WIDTH and at > 16:
            at, row = 16.0, row + 1
        y = 20.0 + row * _LEGEND
        colours = [colour for colour in _colours(trace, 1) if isinstance(colour, str)]
        colour = (colours or [theme.MUTED[mode]])[0]
        mark: list[Mark] = (
            [Box(at, y - 10, 12, 12, fill=colour)]
            if trace.type == "bar"
            else list(_dashed([(at, y - 4), (at + 24, y - 4)], colour, 2.5, _DASHES.get(trace.line.dash or "")))
        )
        rows.append((row, [*mark, Text(at + 30, y, name, _TITLE)]))
        at += wide
    return rows
