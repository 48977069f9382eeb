"""A head's card as one picture: its sentence, a measure over all texts, offsets, relations, and whose texts they are.

```python
scene = card(title="MiniLM: layer 2, head 0", sentence="...", distribution=found, offsets=..., relations=..., note="")
Path("card.png").write_bytes(scene.png())
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.atlas.reading.distribution import MeasureDistribution
from inspector.plots import theme
from inspector.plots.atlas.relations import arrow
from inspector.plots.atlas.units import root_ticks, written
from inspector.plots.scene import Box, Line, Mark, Scene, Text, width
from inspector.plots.theme import Mode

WIDTH, HEIGHT = 1280, 720
_MARGIN, _TITLE, _SAID, _HEADING, _LABEL, _NOTE = 48, 34, 21, 20, 15, 13
_MOST_LINES = 4  # of the sentence
_TOP, _BOTTOM = 296.0, 616.0  # of the charts
_GAP = 44
_RELATIONS = 8


def card(
    *,
    title: str,
    sentence: str,
    chart: str,
    distribution: MeasureDistribution,
    offsets: NDArray[np.float64],
    relations: pd.DataFrame,
    note: str,
    mode: Mode = "light",
) -> Scene:
    """Lay out the card. chart: heads the distribution. offsets: [33], of `Atlas.offsets`, NaN between two texts.

    relations: of `head_relations.better_than_offsets`, may be empty. note: of model, corpus and licence.
    """
    muted = theme.MUTED[mode]
    marks: list[Mark] = [Text(_MARGIN, _MARGIN + _TITLE - 6, title, _TITLE, bold=True)]
    lines = wrapped(sentence, _SAID, WIDTH - 2 * _MARGIN)
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"{lines[_MOST_LINES - 1]} …"]
    for number, line in enumerate(lines):
        marks.append(Text(_MARGIN, _MARGIN + _TITLE + 36 + 1.45 * _SAID * number, line, _SAID))
    across = (WIDTH - 2 * _MARGIN - _GAP * 2) / 3
    charts: list[tuple[str, Callable[[float], Iterator[Mark]]]] = []
    if distribution.texts:
        charts.append((chart, lambda x: _histogram(distribution, x, across, mode=mode)))
    if not np.isnan(offsets).all():
        charts.append(("Mean weight by offset", lambda x: _offsets(offsets, x, across, mode=mode)))
    if len(relations):
        rows = relations.head(_RELATIONS)
        charts.append(("Governors found", lambda x: _relations(rows, x, across, mode=mode)))
    for number, (heading, draw) in enumerate(charts):
        x = _MARGIN + number * (across + _GAP)
        for row, line in enumerate(wrapped(heading, _HEADING, across)[:2]):
            marks.append(Text(x, _TOP - 52 + 24 * row, line, _HEADING, bold=True))
        marks += draw(x)
    for number, line in enumerate(wrapped(note, _NOTE, WIDTH - 2 * _MARGIN)[:2]):
        marks.append(Text(_MARGIN, HEIGHT - 32 + 1.4 * _NOTE * number, line, _NOTE, muted))
    return Scene(WIDTH, HEIGHT, mode, marks)


def wrapped(text: str, size: float, most: float) -> list[str]:
    """Break a text between words into lines of at most `most` pixels; a longer word stands alone."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        # A tenth more: the letters of the SVG are those of another machine.
        if lines and 1.1 * width(longer, size) <= most:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _histogram(found: MeasureDistribution, x: float, across: float, *, mode: Mode) -> Iterator[Mark]:
    held = np.flatnonzero(found.counts)
    first, last = int(held[0]), int(held[-1]) + 1
    roots = np.sqrt(found.measure.edges)
    low, high = float(roots[first]), float(roots[last])
    unit = found.measure.unit

    def at(value: float) -> float:
        return x + 8 + (across - 16) * (float(np.sqrt(value)) - low) / (high - low)

    part = theme.PART[mode]
    quartiles = [at(value) for value in found.middle_half]
    yield Box(quartiles[0], _BOTTOM - 8, max(2.0, quartiles[1] - quartiles[0]), 8, fill=part["positions"])
    tallest = int(found.counts.max())
    for bin in range(first, last):
        left, right = at(float(found.measure.edges[bin])), at(float(found.measure.edges[bin + 1]))
        tall = (_BOTTOM - 14 - _TOP) * int(found.counts[bin]) / tallest
        yield from _bar(left, _BOTTOM - 14, right - left - 1, tall, fill=part["attention"])
    mean = at(found.mean)
    yield Line(mean, _TOP, mean, _BOTTOM, theme.TEXT[mode], 2)
    yield from _ticks(
        [
            (at(tick), written(tick, unit) if tick else "0")
            for tick in root_ticks(float(found.measure.edges[last]), most=5)
            if low**2 <= tick
        ],
        x,
        across,
        mode=mode,
    )
    yield Text(
        x,
        _BOTTOM + 42,
        f"{found.texts:,} texts; line: mean, {written(found.mean, unit)}; bar: middle half",
        _NOTE,
        theme.MUTED[mode],
    )


def _offsets(weights: NDArray[np.float64], x: float, across: float, *, mode: Mode) -> Iterator[Mark]:
    part, step = theme.PART[mode], across / len(weights)
    farthest = len(weights) // 2
    tallest = max(float(np.nanmax(weights)), 1e-9)
    for number, weight in enumerate(weights):
        fill = part["attention"] if number != farthest else part["out"]
        yield from _bar(x + number * step, _BOTTOM, step - 2, (_BOTTOM - _TOP) * float(weight) / tallest, fill=fill)
    ticks = [
        (x + (farthest + offset + 0.5) * step - 1, f"{offset:+d}" if offset else "0") for offset in (-16, -8, 0, 8, 16)
    ]
    yield from _ticks(ticks, x, across, mode=mode)
    told = f"tokens from query to key; tallest {written(tallest, 'share')}"
    yield Text(x, _BOTTOM + 42, told, _NOTE, theme.MUTED[mode])


def _relations(rows: pd.DataFrame, x: float, across: float, *, mode: Mode) -> Iterator[Mark]:
    names = [
        arrow(relation, direction) for relation, direction in zip(rows["relation"], rows["direction"], strict=True)
    ]
    side = min(max(width(name, _LABEL) for name in names) * 1.1 + 14, across / 2)
    left, room = x + side, across - side - 8
    part = theme.PART[mode]
    step = min(38.0, (_BOTTOM - _TOP) / len(rows))
    bottom = _TOP + step * len(rows)
    for tick in (0.0, 0.5, 1.0):
        yield Line(left + room * tick, _TOP, left + room * tick, bottom, theme.GRID[mode], 1)
    for number, (name, row) in enumerate(zip(names, rows.itertuples(), strict=True)):
        y = _TOP + (number + 0.5) * step
        yield Text(left - 14, y + 5, name, _LABEL, anchor="end")
        for low, share, high, colour, lift in (
            (row.baseline_low, row.baseline_share, row.baseline_high, part["residual"], 5),
            (row.low, row.share, row.high, part["attention"], -5),
        ):
            yield Line(left + room * low, y + lift, left + room * high, y + lift, colour, 2.5)
            yield Box(left + room * share - 5, y + lift - 5, 10, 10, fill=colour, radius=5 if lift < 0 else 0)
    for tick in (0.0, 0.5, 1.0):
        yield Text(
            left + room * tick, bottom + 20, f"{tick:.0%}".replace("%", " %"), _LABEL, theme.MUTED[mode], "middle"
        )
    told = "circle: this head; square: best offset; lines: 95 %"
    yield Text(x, _BOTTOM + 42, told, _NOTE, theme.MUTED[mode])


def _bar(x: float, bottom: float, across: float, tall: float, *, fill: str) -> Iterator[Mark]:
    """Draw a bar that stands on `bottom`; one of less than half a pixel cannot be seen."""
    if tall >= 0.5:
        yield Box(x, bottom - tall, max(1.0, across), tall, fill=fill)


def _ticks(ticks: Sequence[tuple[float, str]], x: float, across: float, *, mode: Mode) -> Iterator[Mark]:
    yield Line(x, _BOTTOM, x + across, _BOTTOM, theme.MUTED[mode], 1)
    for at, name in ticks:
        if x <= at <= x + across:
            yield Text(at, _BOTTOM + 20, name, _LABEL, theme.MUTED[mode], "middle")
