"""Lines, bars or points of a table as a record; called with the mode it is a figure.

```python
Chart(table, "layer", "flops", by="part", names={"ffn": "FFN"}, x_title="layer", y_title="FLOPs")(mode="dark")
```
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import cut, token_name

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


class Content(TypedDict):
    """Content of a figure: its series, each a dictionary, and the layout."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]


Mark = Literal["lines", "curves", "bars", "points"]
"""Lines have points where they are few, curves never."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "diamond", "square", "x", "triangle-up", "cross", "triangle-down")
PATTERNS = ("", "/", ".", "x", "-", "+")
MOST_LABELS = 16  # of places along an axis; sideways each has a line
APART = 1.5  # times a value on a logarithmic axis: where the next one begins to have room for its name
MOST_POWERS = 8  # of ten, named along an axis
LABEL = 12  # pixels of the letters beside a line across the chart
WORDS_ROOM = 0.1  # of the plot's width, for words beside a dot
MARKED = 24  # points of a line, at most, that are drawn as points too
TOP, ROW = 56, 20  # pixels over a plot with a title, and of a legend or a line of words under the title
LEFT, BOTTOM, UNDER = 74, 54, 38  # pixels that most axes need, and a legend under the plot: else Plotly draws it twice
LETTERS = 26  # in a row of a name beside a bar
OUTLINE, LARGER = 2.5, 1.6  # of what a sentence names: pixels around it, and how much larger a point is


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart of a table's rows in their order.

    x, y: columns. by: the column that tells lines or groups of bars apart; names: its values -> words, "" for a series
    that has no place in the legend; parts: its values -> a name of `theme.ink`, for the colour; styles: its values ->
    which dash, symbol or pattern, by number, for series that may share a colour; marks: its values -> another mark than
    the chart's; sizes: its values -> the width of a line or the size of points, in pixels. each: a column by which
    every point or bar has its own colour, through `parts`. opacity: a column that says how opaque each bar is, and a
    line by its first row. band: two columns between which the plot behind a series is shaded; error: two columns to
    which each point's whiskers reach. bar_width: a column of the widths of bars, which then touch.

    places: labels of the whole numbers 0, 1, ... along x; tokens: those of a text, as such labels. over: a column of
    tokens written over the bars or points; text: a column of words written behind them; points_at: a column of words,
    each beside a dot on its line, for a sentence names the datum. hover: columns -> words, told on hover beside x and
    y. x_marks, y_marks: labels -> where a quiet line crosses the chart. ticks: the values along x that are named ->
    their words. x_range, y_range: the ends of the axes, on a logarithmic one as powers of ten; from_zero: the axis of
    y begins at 0. x_format, y_format: of the numbers along the axes, as d3 writes them; shares are told in percent on
    hover too.

    marked: rows that a sentence names, each as column -> value: a bar has an outline, a point one that is larger; none
    where a column is not in the table.

    title: of the slide and the files; subtitle: a line of words that stands on the page too. unit: behind y on hover.
    listed: a legend names the series; below: it stands under the plot, as one of many series always does. sideways: x
    runs down and y to the right. height: in pixels, beside what a legend and a subtitle take above the plot.
    """

    table: pd.DataFrame
    x: str
    y: str
    mark: Mark = "lines"
    by: str = ""
    names: Mapping[Any, str] = field(default_factory=dict)
    parts: Mapping[Any, str] = field(default_factory=dict)
    styles: Mapping[Any, int] = field(default_factory=dict)
    marks: Mapping[Any, Mark] = field(default_factory=dict)
    sizes: Mapping[Any, float] = field(default_factory=dict)
    each: str = ""
    opacity: str = ""
    band: tuple[str, str] | None = None
    error: tuple[str, str] | None = None
    bar_width: str = ""
    places: Sequence[str] = ()
    tokens: Sequence[str] = ()
    over: str = ""
    text: str = ""
    points_at: str = ""
    hover: Mapping[str, str] = field(default_factory=dict)
    x_title: str = ""
    y_title: str = ""
    unit: str = ""
    title: str = ""
    subtitle: str = ""
    x_marks: Mapping[str, float] = field(default_factory=dict)
    y_marks: Mapping[str, float] = field(default_factory=dict)
    ticks: Mapping[float, str] = field(default_factory=dict)
    marked: Sequence[Mapping[str, Any]] = ()
    x_log: bool = False
    y_log: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    from_zero: bool = False
    x_format: str = ""
    y_format: str = ""
    listed: bool = True
    below: bool = False
    stacked: bool = False
    sideways: bool = False
    height: int = 300

    def __call__(self, *, mode: Mode) -> go.Figure:
        """Draw the chart in this mode."""
        return go.Figure(**self.content(mode=mode))

    def content(self, *, mode: Mode) -> Content:
        """Return what is drawn in this mode, as Plotly takes it."""
        return framed(
            self.series(mode=mode),
            self.layout(mode=mode),
            title=self.title or self.y_title,
            subtitle=self.subtitle,
            below=self.below,
            height=self.height,
            slanted=() if self.sideways else self.places,
            mode=mode,
        )

    def marking(self, rows: Sequence[Mapping[str, Any]]) -> Chart:
        """Return the chart with these rows marked, each given as column -> value."""
        return replace(self, marked=[*self.marked, *rows])

    def series(self, *, mode: Mode, plot: str = "") -> list[dict[str, Any]]:
        """Return what is drawn of each value of `by`, in order; plot: the number behind the axes of one of several."""
        groups = self.table.groupby(self.by, sort=False) if self.by else [("", self.table)]
        return [
            trace | {"xaxis": f"x{plot}", "yaxis": f"y{plot}"}
            for number, (value, rows) in enumerate(groups)
            for trace in self._series(value, rows, number=number, mode=mode)
        ] + [trace | {"xaxis": f"x{plot}", "yaxis": f"y{plot}"} for trace in self._pointed(mode)]

    def layout(self, *, mode: Mode, plot: str = "") -> dict[str, Any]:
        """Lay out axes and lines across; plot: the number behind the axes of one of several."""
        across, along = self._across(), self._along()
        if self.sideways:
            across |= {"autorange": "reversed", "showgrid": False, "ticks": ""}
        lines = [*self._lines("x", plot=plot, mode=mode), *self._lines("y", plot=plot, mode=mode)]
        return {
            f"xaxis{plot}": along if self.sideways else across,
            f"yaxis{plot}": across if self.sideways else along,
            "shapes": [shape for shape, _ in lines],
            "annotations": [label for _, label in lines if label["text"]],
            "barmode": "relative" if self.stacked else "group",
            "bargap": 0 if self.bar_width else 0.3,
        }

    def _lines(
        self, axis: Literal["x", "y"], *, plot: str, mode: Mode
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Draw quiet lines across the plot at values of an axis of the picture, each with its label."""
        of_x = (axis == "x") != self.sideways  # the axis of the picture is that of the column x
        log = self.x_log if of_x else self.y_log
        other = "y" if axis == "x" else "x"
        refs = {f"{axis}ref": f"{axis}{plot}", f"{other}ref": f"{other}{plot} domain"}
        quiet = {"color": theme.MUTED[mode], "dash": "dot", "width": 1.5}
        for number, (words, at) in enumerate((self.x_marks if of_x else self.y_marks).items()):
            shape = {"type": "line", f"{axis}0": at, f"{axis}1": at, f"{other}0": 0, f"{other}1": 1, "line": quiet}
            place = math.log10(at) if log else at  # of words on such an axis; a line's place is the value
            label: dict[str, Any] = {axis: place, other: 1}
            if axis == "x":  # labels of neighbouring lines stand one below the other
                label |= {"xanchor": "left", "yanchor": "top", "yshift": -number * 1.5 * LABEL}
            else:
                label |= {"xanchor": "right", "yanchor": "bottom"}
            yield shape | refs, label | refs | _label(words, mode)

    def _series(self, value: Any, rows: pd.DataFrame, *, number: int, mode: Mode) -> Iterator[dict[str, Any]]:
        """Draw the rows of one value of `by`, over its band."""
        name = theme.literal(self.names.get(value, str(value)))
        part = self.parts.get(value, "") if self.by else self.parts.get(self.y, "attention")
        colour = theme.ink(part, mode) if part else theme.HEADS[mode][number % len(theme.HEADS[mode])]
        inked = [theme.ink(self.parts.get(kind, "residual"), mode) for kind in rows[self.each]] if self.each else colour
        style, mark = self.styles.get(value, 0), self.marks.get(value, self.mark)
        told = {
            "name": name,
            "showlegend": bool(name) and self.listed,
            "customdata": self._cells(rows),
            "hovertemplate": self._told(name),
            "cliponaxis": mark not in ("bars", "points"),
            **self._words(rows, mark),
        }
        if self.band is not None and rows[self.band[0]].notna().any():
            yield self._band(rows, colour)
        x, y = (rows[self.y], rows[self.x]) if self.sideways else (rows[self.x], rows[self.y])
        opaque = list(rows[self.opacity]) if self.opacity else None
        named = self._named_rows(rows)
        if mark == "bars":
            yield {
                "type": "bar",
                "x": x,
                "y": y,
                "orientation": "h" if self.sideways else "v",
                "width": rows[self.bar_width] if self.bar_width else None,
                "marker": {
                    "color": inked,
                    "opacity": opaque,
                    "pattern": {"shape": PATTERNS[style % len(PATTERNS)]},
                    "line": self._outlines(named, mode),
                },
                "unselected": {"marker": {"opacity": 1}},  # a click hides nothing
                **told,
            }
            return
        drawn = {"points": "markers", "curves": "lines"}.get(mark, "lines+markers" if len(rows) <= MARKED else "lines")
        size = self.sizes.get(value, 8 if mark == "points" else 2)
        point = size if mark == "points" else 8 if self.each else 6
        yield {
            "type": "scatter",
            "x": x,
            "y": y,
            "mode": f"{drawn}+text" if "text" in told else drawn,
            "opacity": opaque[0] if opaque else None,
            "line": {
                "color": theme.ink("residual", mode) if self.each else colour,
                "width": 2 if mark == "points" else size,
                "dash": DASHES[style % len(DASHES)],
            },
            "marker": {
                "color": inked,
                "size": point,
                "symbol": SYMBOLS[style % len(SYMBOLS)],
            },
            "error_x" if self.sideways else "error_y": self._whiskers(rows, colour),
            **told,
        }
        if any(named):
            yield {
                "type": "scatter",
                "x": x[named],
                "y": y[named],
                "mode": "markers",
                "marker": {
                    "color": colour,
                    "size": LARGER * point,
                    "line": {"color": theme.TEXT[mode], "width": [OUTLINE] * int(named.sum())},
                },
                "hoverinfo": "skip",
                "showlegend": False,
                "cliponaxis": False,
            }

    def _named_rows(self, rows: pd.DataFrame) -> NDArray[np.bool_]:
        """Tell which rows a sentence names."""
        named = np.zeros(len(rows), bool)
        for where in self.marked:
            if set(where) <= set(rows):
                named |= np.logical_and.reduce([rows[column].to_numpy() == value for column, value in where.items()])
        return named

    def _outlines(self, named: NDArray[np.bool_], mode: Mode) -> dict[str, Any]:
        """Return the edges of bars: stacked ones stand apart, those that a sentence names have an outline."""
        paper, apart = theme.BACKGROUND[mode], 0.5 if self.stacked else 0
        if not any(named):
            return {"color": paper, "width": apart}
        return {
            "color": [theme.TEXT[mode] if here else paper for here in named],
            "width": [OUTLINE if here else apart for here in named],
        }

    def _words(self, rows: pd.DataFrame, mark: Mark) -> dict[str, Any]:
        """Write the tokens over bars or points, or the words behind them."""
        bars = mark == "bars"
        column = self.over or self.text
        if not column or mark == "curves" or not any(rows[column]):
            return {"textposition": "none"} if bars else {}
        font = {"family": theme.TOKEN_FONT, "size": 11} if self.over else {"size": 12}
        return {
            "text": [theme.literal(cut(words) if self.over else words) for words in rows[column]],
            "textposition": "outside" if bars else "top center" if self.over else "middle right",
            "textfont": font,
        }

    def _pointed(self, mode: Mode) -> Iterator[dict[str, Any]]:
        """Draw a dot with its words, on the side that has room, at each datum that a sentence names."""
        if not self.points_at:
            return
        named = self.table[self.table[self.points_at] != ""]
        start, end = self.x_range or (self.table[self.x].min(), self.table[self.x].max())
        for x, y, words in zip(named[self.x], named[self.y], named[self.points_at], strict=True):
            yield {
                "type": "scatter",
                "x": [y if self.sideways else x],
                "y": [x if self.sideways else y],
                "mode": "markers+text",
                "marker": {"color": theme.TEXT[mode], "size": 9},
                "text": [theme.literal(words)],
                "textposition": "top right" if x + WORDS_ROOM * (end - start) <= end else "top left",
                "textfont": {"size": 13, "color": theme.TEXT[mode]},
                "cliponaxis": False,
                "hoverinfo": "skip",
                "showlegend": False,
            }

    def _band(self, rows: pd.DataFrame, colour: str) -> dict[str, Any]:
        """Shade the plot between two columns; nothing is told of it."""
        low, high = self.band or ("", "")
        return {
            "type": "scatter",
            "x": [*rows[self.x], *rows[self.x][::-1]],
            "y": [*rows[high], *rows[low][::-1]],
            "mode": "lines",
            "fill": "toself",
            "fillcolor": colour,
            "opacity": 0.18,
            "line": {"width": 0},
            "hoverinfo": "skip",
            "showlegend": False,
        }

    def _whiskers(self, rows: pd.DataFrame, colour: str) -> dict[str, Any] | None:
        if self.error is None:
            return None
        low, high = self.error
        reach = {"array": rows[high] - rows[self.y], "arrayminus": rows[self.y] - rows[low], "symmetric": False}
        return {"type": "data", "color": colour, "thickness": 1.5, "width": 4, **reach}

    @property
    def _named(self) -> Sequence[str]:
        """Names of the whole numbers along x, as they are told on hover; a token with its number, for tokens repeat."""
        return [f"{place} {token_name(token)}" for place, token in enumerate(self.tokens)] or self.places

    def _cells(self, rows: pd.DataFrame) -> NDArray[np.object_] | None:
        """Give what each row tells on hover beside x and y: the name of its place, and the columns of `hover`."""
        columns: list[Sequence[Any]] = [rows[column].tolist() for column in self.hover]
        if named := self._named:
            columns.insert(0, [named[int(place)] for place in rows[self.x]])
        if not columns:
            return None
        cells = np.empty((len(rows), len(columns)), object)  # an array, for plotly looks through lists cell by cell
        for at, column in enumerate(columns):
            cells[:, at] = [theme.literal(cell) if isinstance(cell, str) else cell for cell in column]
        return cells

    def _told(self, name: str) -> str:
        """Write what is told on hover."""
        x, y = ("y", "x") if self.sideways else ("x", "y")
        place = "%{customdata[0]}" if self._named else f"%{{{x}:{self.x_format}}}" if self.x_format else f"%{{{x}}}"
        written = {"%": ".1%", "s": ".3s"}.get(self.y_format[-1:], ".3g")
        behind = self.text and self.mark == "bars"
        value = "%{text}" if behind else f"{self.y_title} %{{{y}:{written}}} {self.unit}"
        lines = [name if self.by else "", f"{self.x_title} {place}", value]
        first = int(bool(self._named))
        for at, (column, words) in enumerate(self.hover.items(), start=first):
            digits = ":.3g" if self.table[column].dtype.kind == "f" else ""
            lines.append(f"{words} %{{customdata[{at}]{digits}}}")
        return "<br>".join(filter(None, map(str.strip, lines))) + "<extra></extra>"

    def _across(self) -> dict[str, Any]:
        """Lay out the axis of x."""
        axis: dict[str, Any] = {"title": {"text": self.x_title}}
        if self.x_format:
            axis["tickformat"] = self.x_format
        if self.x_range is not None:
            axis["range"] = list(self.x_range)
        if self.tokens:
            # else a bar would stand where its series comes, not where its token does
            order = {"categoryorder": "array", "categoryarray": list(range(len(self.tokens)))}
            return theme.token_axis(self.tokens, title=self.x_title) | order
        if self.places:
            step = 1 if self.sideways else max(1, -(-len(self.places) // MOST_LABELS))
            at = list(range(0, len(self.places), step))
            if self.sideways:
                return axis | {"tickvals": at, "ticktext": [in_rows(self.places[place], LETTERS) for place in at]}
            names = [theme.literal(self.places[place]) for place in at]
            return axis | {"tickvals": at, "ticktext": names, "tickangle": -45}
        if self.ticks:
            named = {"tickvals": list(self.ticks), "ticktext": list(self.ticks.values())}
            return axis | {"type": "log" if self.x_log else "linear"} | named
        if self.x_log:
            ticks = (_whole_powers if self.x_format else _named_ticks)(self.table[self.x])
            return axis | {"type": "log", "exponentformat": "power"} | ticks
        values = self.table[self.x]
        if values.dtype.kind in "iu" and len(values) and values.max() - values.min() < MOST_LABELS:
            axis["dtick"] = 1  # of more whole numbers plotly labels round ones
        return axis

    def _along(self) -> dict[str, Any]:
        """Lay out the axis of y."""
        axis: dict[str, Any] = {"title": {"text": self.y_title}}
        if self.y_log:
            axis |= {"type": "log", "exponentformat": "power"} | _whole_powers(self.table[self.y])
        if self.y_format:
            axis["tickformat"] = self.y_format
        if self.y_range is not None:
            axis["range"] = list(self.y_range)
        return axis | ({"rangemode": "tozero"} if self.from_zero else {})


@dataclass(frozen=True, eq=False)
class Panels:
    """Charts one under the other over one axis of x, whose title the last of them has, or beside each other.

    Series of one name have one place in the legend; legend: what they are. title, subtitle, below, height: of all, as a
    `Chart` has them.
    """

    charts: Sequence[Chart]
    title: str
    subtitle: str = ""
    legend: str = ""
    beside: bool = False
    below: bool = False
    height: int = 500

    def __call__(self, *, mode: Mode) -> go.Figure:
        """Draw the charts in this mode."""
        return go.Figure(**self.content(mode=mode))

    def content(self, *, mode: Mode) -> Content:
        """Return what is drawn in this mode, as Plotly takes it."""
        series: list[dict[str, Any]] = []
        layout: dict[str, Any] = {"shapes": [], "annotations": [], "legend": {"title": {"text": self.legend}}}
        for number, (chart, (start, end)) in enumerate(zip(self.charts, self._places(), strict=True), start=1):
            plot = str(number) if number > 1 else ""  # as plotly counts axes
            drawn = chart.layout(mode=mode, plot=plot)
            x, y = drawn[f"xaxis{plot}"], drawn[f"yaxis{plot}"]
            x |= {"anchor": f"y{plot}", "domain": [start, end] if self.beside else [0, 1]}
            y |= {"anchor": f"x{plot}", "domain": [0, 1] if self.beside else [start, end]}
            if number < len(self.charts) and not self.beside:
                x |= {"matches": f"x{len(self.charts)}", "showticklabels": False, "title": {"text": ""}}
            for kind in ("shapes", "annotations"):
                drawn[kind] = layout[kind] + drawn[kind]
            layout |= drawn
            series += chart.series(mode=mode, plot=plot)
        seen = set[str]()
        for trace in series:
            if "name" in trace:  # a band has none
                trace["legendgroup"] = trace["name"]
                trace["showlegend"] &= trace["name"] not in seen
                seen |= {trace["name"]} if trace["showlegend"] else set()
        return framed(
            series,
            layout,
            title=self.title,
            subtitle=self.subtitle,
            below=self.below,
            height=self.height,
            slanted=self.charts[-1].places,
            mode=mode,
        )

    def marking(self, rows: Sequence[Mapping[str, Any]]) -> Panels:
        """Return the charts with these rows marked, each given as column -> value."""
        return replace(self, charts=[chart.marking(rows) for chart in self.charts])

    def _places(self) -> Iterator[tuple[float, float]]:
        """Yield where each chart begins and ends: as a share of the width beside each other, else of the height."""
        count = len(self.charts)
        gap = 0.12 if self.beside else 0.06 if count > 2 else 0.08
        size = (1 - gap * (count - 1)) / count
        for number in range(count) if self.beside else reversed(range(count)):  # the first of a column is the uppermost
            yield number * (size + gap), number * (size + gap) + size


def framed(
    series: list[dict[str, Any]],
    layout: Mapping[str, Any],
    *,
    title: str,
    subtitle: str,
    below: bool,
    height: int,
    slanted: Sequence[str],
    mode: Mode,
) -> Content:
    """Give series and a layout their frame: a title over them, their legend beside or under them, room for both.

    slanted: labels along x, which lie aslant.
    """
    listed = sum(bool(trace.get("showlegend")) for trace in series)
    above = 0 < listed <= 4 and not below
    room = ROW * (above + bool(subtitle))
    frame = {
        "template": theme.template(mode),
        "title": {"text": theme.literal(title), "subtitle": {"text": subtitle}},
        "showlegend": listed > 0,
        "legend": layout.get("legend", {}) | (theme.LEGEND_ABOVE if above else theme.LEGEND_BELOW),
        "margin": {"t": TOP + room, "l": LEFT, "b": _bottom(slanted) + UNDER * (listed > 0 and not above)},
        "height": height + room,
    }
    return {"data": [_given(trace) for trace in series], "layout": _given(layout) | frame}


def _bottom(slanted: Sequence[str]) -> int:
    """Guess the pixels under the plot that the title of x and its labels need."""
    return round(44 + 0.72 * (14 + 6.2 * max(map(len, slanted)))) if slanted else BOTTOM


def _given(part: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is None or an empty list, as Plotly itself does."""
    return {
        name: _given(value) if isinstance(value, dict) else value
        for name, value in part.items()
        if value is not None and not (isinstance(value, list) and not value)
    }


def in_rows(name: str, most: int) -> str:
    """Break a name into rows of at most so many letters at spaces, or anywhere in Chinese, which has none."""
    rows: list[str] = []
    row, room = "", 0.0
    spaced = name.isascii() or " " in name
    words = name.split(" ") if spaced else list(name)
    space = " " if len(words) > 1 and spaced else ""
    for word in words:
        wide = sum(1 if ord(letter) < 0x2E80 else 1.8 for letter in word)
        if row and room + wide > most:
            rows, row, room = [*rows, row], "", 0.0
        row, room = f"{row}{space if row else ''}{word}", room + wide + len(space)
    return "<br>".join(map(theme.literal, [*rows, row]))


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
    font = {"color": theme.MUTED[mode], "size": LABEL}
    return {"text": theme.literal(words), "font": font, "bgcolor": theme.BACKGROUND[mode], "showarrow": False}
