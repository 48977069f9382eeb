"""The chart of a question: bars or lines, in the reader's language. A map is drawn by `inspector.plots.matrices`."""

from __future__ import annotations

import math

import pandas as pd

from inspector.plots import theme
from inspector.plots.chart import LETTERS, Chart, in_rows
from inspector.questions.filled import brief
from inspector.questions.record.both import Both, Language
from inspector.questions.record.picture import Bars, Lines

_BAR, _AROUND = 30, 128  # pixels of a bar, and of what stands around all of them
_LOWEST, _HIGHEST = 232, 492
_LINES = 362
_MANY = 24  # points, which are drawn paler
_WIDTH_OF_TITLE = 34  # letters in a row of the title beside an axis


def chart(picture: Bars | Lines, *, language: Language = "en") -> Chart:
    """Turn a question's bars or lines into a chart in the reader's language."""
    return _bars(picture, language) if isinstance(picture, Bars) else _lines(picture, language)


def told(picture: Bars | Lines, language: Language) -> str:
    """Name what a figure shows, for those who hear the page."""
    if isinstance(picture, Bars):
        named = zip(picture.names, picture.values, strict=True)
        return f"{picture.title.of(language)}: " + "; ".join(
            f"{_said(name, language)} {brief(value)}" for name, value in named
        )
    titles = f"{picture.y_title.of(language)} / {picture.x_title.of(language)}"
    return f"{titles}: " + "; ".join(_said(series.name, language) for series in picture.series)


def _bars(picture: Bars, language: Language) -> Chart:
    names = [_said(name, language) for name in picture.names]
    table = pd.DataFrame(
        {
            "place": range(len(names)),
            "value": [value if math.isfinite(value) else math.nan for value in picture.values],
            "text": [brief(value) for value in picture.values],
            "part": picture.parts or ["attention"] * len(names),
        }
    )
    log = picture.log and not (table["value"] <= 0).any()
    rows = sum(in_rows(name, LETTERS).count("<br>") + 1 for name in names)
    return Chart(
        table,
        "place",
        "value",
        "bars",
        each="part",
        parts={part: part for part in table["part"]},
        places=names,
        text="text",
        y_title=theme.literal(picture.title.of(language)),
        y_marks={} if picture.mark is None else {brief(picture.mark): picture.mark},
        y_log=log,
        y_range=_room(picture, log),
        sideways=True,
        height=min(max(_AROUND + _BAR * rows, _LOWEST), _HIGHEST),
    )


def _lines(picture: Lines, language: Language) -> Chart:
    styled = [(series.part, series.points, series.dashed) for series in picture.series]
    # A second line in the same style is told apart by its dash, and all by a head's colour in place of their part's.
    again = [styled[:at].count(style) for at, style in enumerate(styled)]
    named = dict(enumerate(picture.series))
    rows = [
        (at, x, y, 0.65 if series.points and len(series.x) > _MANY else 1.0)
        for at, series in named.items()
        for x, y in zip(series.x, series.y, strict=True)
    ]
    return Chart(
        pd.DataFrame(rows, columns=["series", "x", "y", "opacity"]),
        "x",
        "y",
        by="series",
        names={at: _said(series.name, language) for at, series in named.items()},
        parts={} if any(again) else {at: series.part for at, series in named.items()},
        styles={at: again[at] or int(series.dashed) for at, series in named.items()},
        marks={at: "points" for at, series in named.items() if series.points},
        sizes={at: 8 if series.points else 2.5 for at, series in named.items()},
        opacity="opacity",
        x_title=theme.literal(picture.x_title.of(language)),
        y_title=in_rows(picture.y_title.of(language), _WIDTH_OF_TITLE),
        x_marks={} if picture.mark_x is None else {"": picture.mark_x},
        y_marks={} if picture.mark_y is None else {"": picture.mark_y},
        x_log=picture.log_x,
        y_log=picture.log_y and _is_wide(picture),
        y_format=".1~e" if picture.log_y and not _is_wide(picture) else "",
        listed=len(named) > 1,
        below=True,
        height=_LINES + 20 * max(0, len(picture.series) - 2),
    )


def _is_wide(picture: Lines) -> bool:
    """Return True if the values reach over a power of ten: less of it has no round numbers to name."""
    sizes = [y for series in picture.series for y in series.y if math.isfinite(y) and y > 0]
    return bool(sizes) and max(sizes) >= 10 * min(sizes)


def _room(picture: Bars, log: bool) -> tuple[float, float] | None:
    """Leave room beside the longest bar for its number."""
    values = [value for value in picture.values if math.isfinite(value)]
    if picture.mark is not None:
        values.append(picture.mark)
    if not values or not any(values):
        return None
    if log:
        low, high = math.log10(min(values)), math.log10(max(values))
        wide = max(high - low, 1.0)
        return math.floor(low - 0.15 * wide), high + 0.22 * wide
    low, high = min(0.0, *values), max(0.0, *values)
    wide = high - low
    return low - 0.2 * wide if low < 0 else 0.0, high + 0.2 * wide if high > 0 else 0.0


def _said(name: Both | str, language: Language) -> str:
    return name.of(language) if isinstance(name, Both) else name
