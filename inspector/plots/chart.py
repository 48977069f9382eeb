"""Lines, bars or points of a table as a record; called with the mode it is a figure.

```python
Chart(table, "layer", "flops", by="part", names={"ffn": "FFN"}, x_title="layer", y_title="FLOPs")(mode="dark")
```
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import cut

if TYPE_CHECKING:
    import pandas as pd

Mark = Literal["lines", "bars", "points"]
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "diamond", "square", "x", "triangle-up", "cross")
PATTERNS = ("", "/", ".", "x", "-", "+")
MOST_LABELS = 16  # of places along an axis; sideways each has a line
APART = 1.5  # times a value on a logarithmic axis: where the next one begins to have room for its name
MOST_POWERS = 8  # of ten, named along an axis
MARKED = 24  # points of a line, at most, that are drawn as points too


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart of a table's rows in their order.

    x, y: columns. by: the column that tells lines or groups of bars apart; names: its values -> words; parts: its
    values -> a name of `theme.PART`, for the colour; styles: its values -> which dash, symbol or pattern, by number,
    for series that may share a colour. each: a column by which every point or bar has its own colour, through `parts`.
    places: labels of the whole numbers 0, 1, ... along x; tokens: those of a text, as such labels. over: a column of
    tokens written over the bars. hover: columns -> words, told on hover beside x and y. x_marks, y_marks: labels ->
    where a quiet line crosses the chart. ticks: the values along x that are named -> their words. title: of the slide
    and the files; subtitle: a line of words that stands on the page too. unit: behind y on hover.
    """

    table: pd.DataFrame
    x: str
    y: str
    mark: Mark = "lines"
    by: str = ""
    names: Mapping[Any, str] = field(default_factory=dict)
    parts: Mapping[Any, str] = field(default_factory=dict)
    styles: Mapping[Any, int] = field(default_factory=dict)
    each: str = ""
    places: Sequence[str] = ()
    tokens: Sequence[str] = ()
    over: str = ""
    hover: Mapping[str, str] = field(default_factory=dict)
    x_title: str = ""
    y_title: str = ""
    unit: str = ""
    title: str = ""
    subtitle: str = ""
    x_marks: Mapping[str, float] = field(default_factory=dict)
    y_marks: Mapping[str, float] = field(default_factory=dict)
    ticks: Mapping[float, str] = field(default_factory=dict)
    x_log: bool = False
    y_log: bool = False
    y_range: tuple[float, float] | None = None
    stacked: bool = False
    sideways: bool = False
    height: int = 300

    def __call__(self, *, mode: Mode) -> go.Figure:
        """Draw the chart in this mode."""
        figure = go.Figure()
        groups = self.table.groupby(self.by, sort=False) if self.by else [("", self.table)]
        for number, (value, rows) in enumerate(groups):
            self._add(figure, value, rows, number=number, mode=mode)
        quiet = {"color": theme.MUTED[mode], "dash": "dot", "width": 1.5}
        for label, at in self.x_marks.items():
            figure.add_vline(x=at, line=quiet)
            place = math.log10(at) if self.x_log else at  # of words on such an axis; a line's place is the value
            beside = {"yref": "y domain", "xanchor": "left", "yanchor": "top", "showarrow": False}
            figure.add_annotation(x=place, y=1, **beside, **_label(label, mode))
        for label, at in self.y_marks.items():
            figure.add_hline(y=at, line=quiet, annotation=_label(label, mode))
        across, along = ("y", "x") if self.sideways else ("x", "y")
        axes = {across: self._across(), along: self._along()}
        return figure.update_layout(
            template=theme.template(mode),
            title={"text": theme.literal(self.title or self.y_title), "subtitle": {"text": self.subtitle}},
            xaxis=axes["x"],
            yaxis=axes["y"] | ({"autorange": "reversed"} if self.sideways else {}),
            barmode="relative" if self.stacked else "group",
            bargap=0.3,
            showlegend=len(figure.data) > 1,
            legend=theme.LEGEND_ABOVE if len(figure.data) <= 4 else theme.LEGEND_BELOW,
            height=self.height,
        )

    def _add(self, figure: go.Figure, value: Any, rows: pd.DataFrame, *, number: int, mode: Mode) -> None:
        name = theme.literal(self.names.get(value, str(value)))
        colours = theme.PART[mode]
        colour: Any = colours.get(self.parts.get(value, ""), theme.HEADS[mode][number % len(theme.HEADS[mode])])
        if not self.by:
            colour = colours[self.parts.get(self.y, "attention")]
        style = self.styles.get(value, 0)
        inked = [colours[self.parts.get(kind, "residual")] for kind in rows[self.each]] if self.each else colour
        told = {"name": name, "customdata": self._cells(rows), "hovertemplate": self._told(name)}
        x, y = (rows[self.y], rows[self.x]) if self.sideways else (rows[self.x], rows[self.y])
        if self.mark == "bars":
            text = [theme.literal(cut(token)) for token in rows[self.over]] if self.over else None
            figure.add_bar(
                x=x,
                y=y,
                orientation="h" if self.sideways else "v",
                marker={"color": inked, "pattern": {"shape": PATTERNS[style % len(PATTERNS)]}},
                text=text,
                textposition="outside" if self.over else "none",
                textfont={"family": theme.TOKEN_FONT, "size": 11},
                cliponaxis=False,
                **told,
            )
            return
        drawn = "markers" if self.mark == "points" else "lines+markers" if len(rows) <= MARKED else "lines"
        figure.add_scatter(
            x=x,
            y=y,
            mode=drawn,
            line={"color": colours["residual"] if self.each else colour, "width": 2, "dash": DASHES[style % 6]},
            marker={
                "color": inked,
                "size": 8 if self.mark == "points" or self.each else 6,
                "symbol": SYMBOLS[style % 6],
            },
            **told,
        )

    @property
    def _named(self) -> Sequence[str]:
        """Names of the whole numbers along x, as they are told on hover; a token with its number, for tokens repeat."""
        return [f"{place} {token}" for place, token in enumerate(self.tokens)] or self.places

    def _cells(self, rows: pd.DataFrame) -> list[list[Any]]:
        """List what each row tells on hover beside x and y: the name of its place, and the columns of `hover`."""
        cells = rows[list(self.hover)].astype(object).to_numpy().tolist()
        if named := self._named:
            cells = [[named[int(place)], *row] for place, row in zip(rows[self.x], cells, strict=True)]
        return [[theme.literal(cell) if isinstance(cell, str) else cell for cell in row] for row in cells]

    def _told(self, name: str) -> str:
        """Write what is told on hover."""
        x, y = ("y", "x") if self.sideways else ("x", "y")
        place = "%{customdata[0]}" if self._named else f"%{{{x}}}"
        lines = [name if self.by else "", f"{self.x_title} {place}", f"{self.y_title} %{{{y}:.3g}} {self.unit}"]
        first = int(bool(self._named))
        lines += [f"{words} %{{customdata[{at}]}}" for at, words in enumerate(self.hover.values(), start=first)]
        return "<br>".join(filter(None, map(str.strip, lines))) + "<extra></extra>"

    def _across(self) -> dict[str, Any]:
        axis: dict[str, Any] = {"title": {"text": self.x_title}}
        if self.tokens:
            return theme.token_axis(self.tokens, title=self.x_title)
        if self.places:
            step = 1 if self.sideways else max(1, -(-len(self.places) // MOST_LABELS))
            at = list(range(0, len(self.places), step))
            axis |= {"tickvals": at, "ticktext": [theme.literal(self.places[place]) for place in at]}
            return axis if self.sideways else axis | {"tickangle": -45}
        if self.ticks:
            named = {"tickvals": list(self.ticks), "ticktext": list(self.ticks.values())}
            return axis | {"type": "log" if self.x_log else "linear"} | named
        if self.x_log:
            return axis | {"type": "log", "exponentformat": "power"} | _named_ticks(self.table[self.x])
        values = self.table[self.x]
        if values.dtype.kind in "iu" and len(values) and values.max() - values.min() < MOST_LABELS:
            axis["dtick"] = 1  # of more whole numbers plotly labels round ones
        return axis

    def _along(self) -> dict[str, Any]:
        axis: dict[str, Any] = {"title": {"text": self.y_title}}
        if self.y_log:
            axis |= {"type": "log", "exponentformat": "power"} | _whole_powers(self.table[self.y])
        if self.y_range is not None:
            axis["range"] = list(self.y_range)
        return axis


def _named_ticks(values: pd.Series) -> dict[str, Any]:
    """Name a few values on a logarithmic axis, where they lie far enough apart."""
    ticks = sorted(set(values))
    if not 1 < len(ticks) <= MOST_LABELS or any(later < APART * value for value, later in pairwise(ticks)):
        return {}
    return {"tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}


def _whole_powers(values: pd.Series) -> dict[str, Any]:
    """Name powers of ten alone on a logarithmic axis that has some."""
    seen = values[values > 0]
    powers = math.log10(seen.max() / seen.min()) if len(seen) else 0.0
    return {"dtick": math.ceil(powers / MOST_POWERS)} if powers > 2 else {}


def _label(words: str, mode: Mode) -> dict[str, Any]:
    return {"text": theme.literal(words), "font": {"color": theme.MUTED[mode], "size": 12}}
