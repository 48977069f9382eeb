"""Score functions side by side: a bar for each, and a line for each by the length of the text."""

from __future__ import annotations

from collections.abc import Mapping
from math import log10
from typing import TYPE_CHECKING, Literal

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import quantity

if TYPE_CHECKING:
    from inspector.costs.score_functions import Function

Amount = Literal["flops", "largest_bytes"]
_AXES: dict[Amount, tuple[str, str, str]] = {
    "flops": ("FLOPs of scores and mix", "FLOPs", "FLOP"),
    "largest_bytes": ("Largest tensor", "bytes", "B"),
}
_DASHES = {"additive_naive": "dash", "linear": "dot"}
_COLOURS = {"dot": 0, "general": 2, "additive": 1, "additive_naive": 1, "linear": 3}  # of theme.HEADS


def bars(table: pd.DataFrame, amount: Amount, *, names: Mapping[Function, str], mode: Mode = "light") -> go.Figure:
    """Draw a bar for each function on a logarithmic axis, its number beside it.

    table: of `costs.score_functions.table`.
    """
    title, axis, unit = _AXES[amount]
    values = table[amount]
    figure = go.Figure(
        go.Bar(
            x=values,
            y=[names[function] for function in table["function"]],
            orientation="h",
            marker={"color": [theme.HEADS[mode][_COLOURS[function]] for function in table["function"]]},
            text=[quantity(value, unit) for value in values],
            textposition="outside",
            cliponaxis=False,
            textfont={"size": 13, "color": theme.TEXT[mode]},
            hovertemplate=f"%{{y}}<br>%{{x:,}} {axis}<extra></extra>",
        ),
        layout={
            "template": theme.template(mode),
            "title": {"text": title},
            "height": 320,
            "bargap": 0.3,
            "xaxis": {"title": {"text": f"{axis}, logarithmic"}, "type": "log", "tickformat": "~s", "dtick": 1},
            "yaxis": {"autorange": "reversed", "ticks": "", "tickfont": {"size": 13}},
        },
    )
    low, high = float(values.min()), float(values.max())
    return figure.update_xaxes(range=[_power(low) - 1, _power(high) + 1.2])


def by_length(
    table: pd.DataFrame, amount: Amount, *, names: Mapping[Function, str], tokens: int, mode: Mode = "light"
) -> go.Figure:
    """Draw a line for each function, both axes logarithmic; tokens: the reader's length, marked.

    table: of `costs.score_functions.by_length`.
    """
    title, axis, _ = _AXES[amount]
    figure = go.Figure(
        [
            go.Scatter(
                x=one["tokens"],
                y=one[amount],
                name=names[function],
                mode="lines",
                line={
                    "color": theme.HEADS[mode][_COLOURS[function]],
                    "dash": _DASHES.get(function, "solid"),
                    "width": 2,
                },
                hovertemplate=f"%{{x:,}} tokens<br>%{{y:,}} {axis}",
            )
            for function in table["function"].unique()
            for one in [table[table["function"] == function]]
        ],
        layout={
            "template": theme.template(mode),
            "title": {"text": f"{title} by length"},
            "height": 400,
            "xaxis": {"title": {"text": "text length (tokens)"}, "type": "log", "tickformat": "~s", "dtick": 1},
            "yaxis": {"title": {"text": axis}, "type": "log", "tickformat": "~s", "dtick": 2},
            "legend": {**theme.LEGEND_BELOW, "y": -0.24},
        },
    )
    figure.add_vline(x=tokens, line={"color": theme.MUTED[mode], "dash": "dot", "width": 1.5})
    return figure


def _power(value: float) -> float:
    return log10(max(value, 1))
