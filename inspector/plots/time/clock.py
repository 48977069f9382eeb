"""Serial and parallel work as figures: FLOPs, steps that wait, and milliseconds by length."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode


@dataclass(frozen=True)
class Line:
    """A line's part in `theme.PART`, which gives its colour, its dash and its mark."""

    part: str
    dash: str
    symbol: str


LINES = {
    "lstm": Line("residual", "solid", "circle"),
    "lstm_steps": Line("residual", "dash", "diamond"),
    "lstm_apart": Line("residual", "dot", "x"),
    "attention": Line("attention", "solid", "square"),
    "block": Line("ffn", "dashdot", "triangle-up"),
}
"""The look of a layer or run: recurrence is grey, attention indigo, a layer with an FFN amber."""


def by_length(
    table: pd.DataFrame,
    *,
    of: str,
    column: str,
    quantity: str,
    title: str,
    names: Mapping[str, str],
    mark: tuple[float, str] | None = None,
    mode: Mode = "light",
) -> go.Figure:
    """Draw a column of a table by length on log axes, a line for each layer or run.

    of: the column that tells lines apart, by the names of LINES; names: the lines as the page calls them; quantity: the
    column's name and unit; mark: a length with its name, drawn as a thin line.
    """
    figure, part = go.Figure(), theme.PART[mode]
    for key, rows in table.groupby(of, sort=False):
        line = LINES[str(key)]
        figure.add_scatter(
            x=rows["tokens"],
            y=rows[column],
            name=names[str(key)],
            mode="lines+markers",
            line={"color": part[line.part], "dash": line.dash, "width": 2},
            marker={"symbol": line.symbol, "size": 8},
            hovertemplate=f"%{{x:,}} tokens<br>{quantity} %{{y:,.3~g}}<extra>{names[str(key)]}</extra>",
        )
    if mark is not None:
        at, words = mark
        figure.add_shape(
            type="line",
            x0=at,
            x1=at,
            y0=0,
            y1=1,
            yref="paper",
            line={"color": theme.MUTED[mode], "width": 1, "dash": "dot"},
        )
        figure.add_annotation(  # plotly takes a place on a log axis as its logarithm, that of a shape as it is
            x=math.log10(at),
            y=1,
            yref="paper",
            text=words,
            showarrow=False,
            xanchor="right",
            yanchor="top",
            xshift=-4,
            font={"size": 12, "color": theme.MUTED[mode]},
        )
    lengths = sorted(set(table["tokens"]))
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": title},
        xaxis={
            "title": {"text": "tokens n"},
            "type": "log",
            "range": [math.log10(lengths[0] / 1.2), math.log10(lengths[-1] * 1.2)],
            "tickmode": "array",
            "tickvals": lengths,
            "ticktext": [f"{length:,}" for length in lengths],
        },
        yaxis={
            "title": {"text": quantity},
            "type": "log",
            "dtick": 1,
            "tickformat": "~g" if column == "milliseconds" else "~s",
        },
        legend={**theme.LEGEND_BELOW, "y": -0.24},
        height=380,
    )
