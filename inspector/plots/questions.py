"""The figure of a question: bars or lines, in the reader's language. A map is drawn by `inspector.plots.matrices`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.questions.filled import brief
from inspector.questions.record.both import Both, Language
from inspector.questions.record.picture import Bars, Lines, Series

_BAR, _AROUND = 30, 96  # pixels of a bar, and of what stands around all of them
_LOWEST, _HIGHEST = 200, 460
_LINES = 330
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "diamond", "square", "x", "triangle-up", "cross")
_WIDTH_OF_NAME = 26  # letters in a row of a bar's name
_WIDTH_OF_TITLE = 34  # and of the title beside an axis


def draw(picture: Bars | Lines, *, language: Language = "en", mode: Mode = "light") -> go.Figure:
    """Draw a question's bars or lines."""
    return _bars(picture, language, mode) if isinstance(picture, Bars) else _lines(picture, language, mode)


def told(picture: Bars | Lines, language: Language) -> str:
    """Name what a figure shows, for those who hear the page."""
    if isinstance(picture, Bars):
        named = zip(picture.names, picture.values, strict=True)
        return f"{picture.title.of(language)}: " + "; ".join(
            f"{_said(name, language)} {brief(value)}" for name, value in named
        )
    titles = f"{picture.y_title.of(language)} / {picture.x_title.of(language)}"
    return f"{titles}: " + "; ".join(_said(series.name, language) for series in picture.series)


def _bars(picture: Bars, language: Language, mode: Mode) -> go.Figure:
    names = [_wrapped(_said(name, language)) for name in picture.names]
    parts = picture.parts or ["attention"] * len(names)
    values = [value if math.isfinite(value) else None for value in picture.values]
    log = picture.log and all(value is None or value > 0 for value in values)
    figure = go.Figure(
        go.Bar(
            x=values,
            y=list(range(len(names))),
            orientation="h",
            marker_color=[theme.PART[mode].get(part, theme.PART[mode]["attention"]) for part in parts],
            text=[brief(value) for value in picture.values],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{customdata}: %{text}<extra></extra>",
            customdata=names,
            showlegend=False,
        )
    )
    if picture.mark is not None:
        figure.add_vline(
            x=picture.mark,
            line={"color": theme.MUTED[mode], "dash": "dot", "width": 1.5},
            annotation={
                "text": brief(picture.mark),
                "font": {"color": theme.MUTED[mode], "size": 12},
                "yanchor": "bottom",
                "y": 1,
            },
        )
    figure.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=names,
        autorange="reversed",
        showgrid=False,
        ticks="",
    )
    figure.update_xaxes(title_text=theme.literal(picture.title.of(language)), range=_room(picture, log))
    if log:
        figure.update_xaxes(type="log", exponentformat="power", dtick=_step(picture.values))
    height = min(max(_AROUND + _BAR * sum(name.count("<br>") + 1 for name in names), _LOWEST), _HIGHEST)
    return _framed(figure, mode, height)


def _lines(picture: Lines, language: Language, mode: Mode) -> go.Figure:
    figure = go.Figure()
    colours = _colours(picture.series, mode)
    styled = [(series.part, series.points, series.dashed) for series in picture.series]
    for at, (series, colour) in enumerate(zip(picture.series, colours, strict=True)):
        name = theme.literal(_said(series.name, language))
        again = styled[:at].count(styled[at])  # a second one in the same style is told apart without its colour too
        dash = "dash" if series.dashed else "solid"
        figure.add_scatter(
            x=list(series.x),
            y=list(series.y),
            name=name,
            mode="markers" if series.points else "lines+markers" if len(series.x) <= 24 else "lines",
            marker={
                "color": colour,
                "size": 8 if series.points else 6,
                "opacity": 0.65 if series.points and len(series.x) > 24 else 1,
                "symbol": _SYMBOLS[again % len(_SYMBOLS)],
            },
            line={"color": colour, "dash": _DASHES[again % len(_DASHES)] if again else dash, "width": 2.5},
            hovertemplate=f"{name}: %{{x:.4~g}}, %{{y:.3~g}}<extra></extra>",
        )
    quiet = {"color": theme.MUTED[mode], "dash": "dot", "width": 1.5}
    if picture.mark_x is not None:
        figure.add_vline(x=picture.mark_x, line=quiet)
    if picture.mark_y is not None:
        figure.add_hline(y=picture.mark_y, line=quiet)
    figure.update_xaxes(title_text=theme.literal(picture.x_title.of(language)))
    figure.update_yaxes(title_text=_wrapped(picture.y_title.of(language), _WIDTH_OF_TITLE))
    if picture.log_x:
        figure.update_xaxes(
            type="log", exponentformat="power", dtick=_step([x for one in picture.series for x in one.x])
        )
    if picture.log_y:
        figure.update_yaxes(
            type="log", exponentformat="power", dtick=_step([y for one in picture.series for y in one.y])
        )
    figure.update_layout(showlegend=len(picture.series) > 1, legend={**theme.LEGEND_BELOW, "y": -0.24})
    return _framed(figure, mode, _LINES + 20 * max(0, len(picture.series) - 2))


def _framed(figure: go.Figure, mode: Mode, height: int) -> go.Figure:
    return figure.update_layout(template=theme.template(mode), margin={"t": 24}, height=height)


def _colours(all_series: Sequence[Series], mode: Mode) -> list[str]:
    """Choose each line's colour: its part's, or, where lines of one part and style would look alike, a head's."""
    part = theme.PART[mode]
    styles = [(series.part, series.points, series.dashed) for series in all_series]
    if len(set(styles)) == len(styles):
        return [part.get(series.part, part["attention"]) for series in all_series]
    heads = theme.HEADS[mode]
    return [heads[at % len(heads)] for at in range(len(all_series))]


def _room(picture: Bars, log: bool) -> list[float] | None:
    """Leave room beside the longest bar for its number."""
    values = [value for value in picture.values if math.isfinite(value)]
    if picture.mark is not None:
        values.append(picture.mark)
    if not values or not any(values):
        return None
    if log:
        low, high = math.log10(min(values)), math.log10(max(values))
        wide = max(high - low, 1.0)
        return [math.floor(low - 0.15 * wide), high + 0.22 * wide]
    low, high = min(0.0, *values), max(0.0, *values)
    wide = high - low
    return [low - 0.2 * wide if low < 0 else 0.0, high + 0.2 * wide if high > 0 else 0.0]


def _step(values: Sequence[float]) -> float | None:
    """Label whole powers of ten alone, where there are two at least."""
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    if not positive:
        return None
    powers = math.log10(max(positive)) - math.log10(min(positive))
    return max(1.0, math.ceil(powers / 8)) if powers >= 2 else None


def _said(name: Both | str, language: Language) -> str:
    return name.of(language) if isinstance(name, Both) else name


def _wrapped(name: str, most: int = _WIDTH_OF_NAME) -> str:
    """Break a name into rows at spaces, or anywhere in Chinese, which has none."""
    rows: list[str] = []
    row, room = "", 0.0
    words = name.split(" ") if name.isascii() or " " in name else list(name)
    space = " " if len(words) > 1 and (name.isascii() or " " in name) else ""
    for word in words:
        wide = sum(1 if ord(letter) < 0x2E80 else 1.8 for letter in word)
        if row and room + wide > most:
            rows, row, room = [*rows, row], "", 0.0
        row, room = f"{row}{space if row else ''}{word}", room + wide + len(space)
    return "<br>".join(theme.literal(one) for one in [*rows, row])
