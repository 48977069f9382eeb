"""Gradients by distance through recurrent networks and attention, on a logarithmic scale that loses no zero."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10

import pandas as pd
import plotly.graph_objects as go

from inspector.distance import Kind
from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import number

FLOOR = 1e-40  # where the axis ends at the latest; what is smaller, or 0, is drawn on its edge
_LINES: dict[Kind, tuple[int | None, str]] = {
    "tanh-RNN": (1, "solid"),
    "GRU": (2, "dash"),
    "LSTM": (3, "dot"),
    "open LSTM": (3, "solid"),
    "attention": (None, "solid"),
}
"""The colour, of theme.HEADS, and the dash of each network; attention has its own colour everywhere."""
_MARKS = 12  # triangles of a line on the edge, at most


def by_distance(
    table: pd.DataFrame, names: Mapping[Kind, str], *, title: str, quantity: str, mode: Mode = "light"
) -> go.Figure:
    """Draw a norm by distance, a line for each network; table: with columns network, step and norm.

    names: of the networks, in the legend. quantity: what the norm is of. Below FLOOR a line runs on the axis' edge, as
    triangles.
    """
    figure = go.Figure()
    last = int(table["step"].max())
    least = float(table.loc[table["norm"] >= FLOOR, "norm"].min())
    most = float(table["norm"].max())
    low = max(floor(log10(least)) - 1, round(log10(FLOOR)))
    edge = 10.0**low
    below = False
    for kind, rows in table.groupby("network", sort=False):
        shade, dash = _LINES[kind]
        colour = theme.PART[mode]["attention"] if shade is None else theme.HEADS[mode][shade]
        distance, norm = last - rows["step"], rows["norm"]
        hover = "x<sub>%{customdata}</sub>, %{x} steps back<br>" + names[kind] + " %{text}<extra></extra>"
        shared = {"line": {"color": colour, "dash": dash, "width": 2.5}, "legendgroup": kind, "hovertemplate": hover}
        seen = norm >= edge
        figure.add_scatter(
            x=distance,
            y=norm.where(seen),
            mode="lines",
            name=names[kind],
            customdata=rows["step"],
            text=[number(value) for value in norm],
            **shared,
        )
        if not seen.all():
            below = True
            hidden = rows[~seen].iloc[:: max(1, int((~seen).sum()) // _MARKS)]
            figure.add_scatter(
                x=last - hidden["step"],
                y=[edge] * len(hidden),
                mode="markers",
                marker={"symbol": "triangle-down", "size": 8, "color": colour},
                cliponaxis=False,
                showlegend=False,
                customdata=hidden["step"],
                text=[number(value) for value in hidden["norm"]],
                legendgroup=kind,
                hovertemplate=hover,
            )
    subtitle = f"triangles on the edge: below 1e{low}, or 0 in float64" if below else ""
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": title, "subtitle": {"text": subtitle}},
        xaxis={"title": {"text": "distance T − t, in steps"}, "range": [-last / 60, last - 1 + last / 60]},
        yaxis={
            "title": {"text": quantity},
            "type": "log",
            "range": [low, log10(most) + 0.5],
            "exponentformat": "power",
            "nticks": 8,
        },
        legend={**theme.LEGEND_BELOW, "y": -0.22},
        height=400,
    )
