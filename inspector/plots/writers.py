"""The strongest pairs of writers of a score: who wrote the query's side, who wrote the key's, and a line between them.

```python
PairLines(table, sides=("query's side", "key's side"), rest={"all other pairs": 0.25})(mode="dark")
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.chart import LETTERS, OUTLINE, in_rows
from inspector.plots.theme import Mode
from inspector.text import signed

_NODES, _VALUES = (0.3, 0.7), (0.42, 0.58)  # of the width: the two columns of writers, the ends of the room for a value
_THINNEST, _WIDEST = 1.0, 7.0  # pixels of a line: of the least contribution drawn, of the largest
_ABOVE, _BELOW = 10, 2  # stops of the diverging scale
_ROW = 32  # pixels


@dataclass(frozen=True, eq=False)
class PairLines:
    """A line for each pair of writers, as wide as its contribution is large, its colour by sign, its value at it.

    table: a row a pair, in the order in which values stand below each other, with the columns query and key (names of
    writers), query_kind and key_kind (of `parts`) and contribution. parts: kinds -> a name of `theme.ink`. sides: over
    the two columns of writers. rest: what else is summed up, below the pairs. quantity: behind a value on hover.
    marked: rows that a sentence names, each as column -> value: their writers are outlined.
    """

    table: pd.DataFrame
    sides: tuple[str, str]
    parts: Mapping[str, str]
    rest: Mapping[str, float] = field(default_factory=dict)
    quantity: str = ""
    title: str = ""
    marked: Sequence[Mapping[str, Any]] = ()

    def marking(self, rows: Sequence[Mapping[str, Any]]) -> PairLines:
        """Return the picture with these rows marked, each given as column -> value."""
        return replace(self, marked=[*self.marked, *rows])

    def __call__(self, *, mode: Mode) -> go.Figure:
        """Draw the pairs in this mode. Raises ValueError where there is none."""
        if self.table.empty:
            raise ValueError("there is no pair of writers to draw; give one at least")
        count, contributions = len(self.table), self.table["contribution"].to_numpy(float)
        named = self._named()
        ends = [self._places(side) for side in ("query", "key")]
        figure = go.Figure()
        largest = float(np.abs(contributions).max()) or 1.0
        for row, (query, key) in enumerate(zip(self.table["query"], self.table["key"], strict=True)):
            value = contributions[row]
            told = f"{theme.literal(query)} × {theme.literal(key)}<br>{signed(value)} {self.quantity}<extra></extra>"
            line = {
                "color": theme.DIVERGING[mode][_ABOVE if value >= 0 else _BELOW],
                "width": _THINNEST + (_WIDEST - _THINNEST) * abs(value) / largest,
            }
            figure.add_scatter(
                x=[_NODES[0], _VALUES[0], None, _VALUES[1], _NODES[1]],
                y=[ends[0][query], -row, None, -row, ends[1][key]],
                mode="lines",
                line=line,
                hovertemplate=told,
                showlegend=False,
            )
        figure.add_scatter(
            x=[0.5] * count,
            y=[-row for row in range(count)],
            mode="text",
            text=[
                f"<b>{signed(value)}</b>" if here else signed(value)
                for value, here in zip(contributions, named, strict=True)
            ],
            textposition="middle center",
            textfont={"color": theme.TEXT[mode], "size": 13},
            hoverinfo="skip",
            showlegend=False,
        )
        for side, places, x, anchor in zip(
            ("query", "key"), ends, _NODES, ("middle left", "middle right"), strict=True
        ):
            figure.add_scatter(**self._writers(side, places, x, anchor, named, mode))
        words = [f"{theme.literal(name)} {signed(value)}" for name, value in self.rest.items()]
        figure.add_scatter(
            x=[*_NODES, *[0.5] * len(words)],
            y=[1, 1, *(-row for row in range(count, count + len(words)))],
            mode="text",
            text=[*map(theme.literal, self.sides), *words],
            textposition=["middle left", "middle right", *["middle center"] * len(words)],
            textfont={"color": theme.MUTED[mode], "size": 13},
            hoverinfo="skip",
            showlegend=False,
        )
        rows = count + len(words)
        figure.update_layout(
            template=theme.template(mode),
            title={"text": theme.literal(self.title)},
            xaxis={"visible": False, "range": [0, 1], "fixedrange": True},
            yaxis={"visible": False, "range": [0.4 - rows, 1.6], "fixedrange": True},
            margin={"l": 4, "r": 4, "b": 4},
            height=round(60 + _ROW * (rows + 1.2)),
        )
        return figure

    def _writers(
        self, side: str, places: Mapping[str, float], x: float, anchor: str, named: Sequence[bool], mode: Mode
    ) -> dict[str, Any]:
        """Draw the writers of one side, each in the colour of its part, with its name beside it."""
        kinds = dict(zip(self.table[side], self.table[f"{side}_kind"], strict=True))
        told = set(self.table[side][list(named)])
        before, behind = ("", "  ") if anchor == "middle left" else ("  ", "")
        labels = [f"<br>{before}".join(in_rows(name, LETTERS // 2).split("<br>")) for name in places]
        return {
            "x": [x] * len(places),
            "y": list(places.values()),
            "mode": "markers+text",
            "marker": {
                "size": 12,
                "color": [theme.ink(self.parts[kinds[name]], mode) for name in places],
                "line": {
                    "color": [theme.TEXT[mode] if name in told else theme.BACKGROUND[mode] for name in places],
                    "width": [OUTLINE if name in told else 0 for name in places],
                },
            },
            "text": [f"{before}{label}{behind}" for label in labels],
            "textposition": anchor,
            "textfont": {"color": theme.TEXT[mode], "size": 13},
            "hoverinfo": "skip",
            "showlegend": False,
        }

    def _places(self, side: str) -> dict[str, float]:
        """Place the writers of a side from top to bottom, each near the rows of its pairs."""
        rows = pd.Series(range(len(self.table))).groupby(self.table[side].to_numpy(), sort=False).mean()
        order = rows.sort_values(kind="stable").index
        step = len(self.table) / len(order)
        return {str(name): 0.5 - (at + 0.5) * step for at, name in enumerate(order)}

    def _named(self) -> list[bool]:
        """Tell which pairs a sentence names."""
        named = np.zeros(len(self.table), bool)
        for where in self.marked:
            named |= np.logical_and.reduce([self.table[column].to_numpy() == value for column, value in where.items()])
        return named.tolist()
