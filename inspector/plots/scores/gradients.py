"""Gradients into W_Q, W_K and W_V: by layer with the scale and without, and by how large the scores are."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

import pandas as pd
import plotly.graph_objects as go

from inspector.interventions.gradients import TIMES
from inspector.plots import theme
from inspector.plots.theme import Mode

_NAMES = {"q": "W_Q", "k": "W_K", "v": "W_V"}
_MARKS = {"q": "circle", "k": "diamond", "v": "square"}
_DASHES = {"q": "solid", "k": "dot", "v": "dash"}
_LEAST = 1e-15  # where a logarithmic axis ends at the latest: below is the rounding of weights near 1


def by_layer(table: pd.DataFrame, *, scale: float, size: str, mode: Mode = "light") -> go.Figure:
    """Draw a size of W_Q's and W_V's gradients by layer: indigo with the model's scale, amber without.

    table: of `gradients.sweep`, of one stream; size: a column of it, "median" or "mean".
    """
    whole = table[table["head"].isna()]
    sides: list[tuple[float, str, str]] = [(scale, " with the scale" if scale != 1 else "", "attention")]
    sides += [(1.0, " without", "ffn")] if scale != 1 else []
    figure = go.Figure()
    for factor, words, part in sides:
        for matrix in ("q", "v"):
            rows = whole[(whole["factor"] == factor) & (whole["matrix"] == matrix)]
            _line(figure, rows["layer"], rows[size], matrix, f"{_NAMES[matrix]}{words}", theme.PART[mode][part])
    figure.update_xaxes(title_text="layer", dtick=1)
    return _finished(figure, f"{size} size of an entry", "Gradients by layer", mode)


def by_factor(table: pd.DataFrame, *, scale: float, size: str, mode: Mode = "light") -> go.Figure:
    """Draw a size of the gradients, averaged over the layers, by how many times the model's own the scores are."""
    whole = table[table["head"].isna()]
    mean = whole.groupby(["matrix", "factor"])[size].mean()
    colours = {matrix: theme.PART[mode][matrix] for matrix in _NAMES}
    figure = go.Figure()
    for matrix, name in _NAMES.items():
        if matrix in mean.index.get_level_values(0):
            rows = mean.loc[matrix].sort_index()
            _line(figure, [factor / scale for factor in rows.index], rows, matrix, name, colours[matrix])
    lines = {scale: "the model's", 1.0: "no scale"} if scale != 1 else {1.0: "no scale, the model's"}
    for factor, words in lines.items():
        figure.add_vline(x=factor / scale, line={"color": theme.MUTED[mode], "dash": "dot", "width": 1.5})
        figure.add_annotation(
            x=log10(factor / scale),
            y=0,
            yref="paper",
            text=words,
            textangle=-90,
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
            font={"size": 12, "color": theme.MUTED[mode]},
        )
    times = {one: f"{one:g}" if one >= 1 else f"1/{1 / one:g}" for one in (*TIMES, 1)}
    figure.update_xaxes(
        type="log", title_text="scores, times the model's", tickvals=list(times), ticktext=list(times.values())
    )
    return _finished(figure, f"{size} size of an entry", "Gradients as the softmax saturates", mode)


def _line(figure: go.Figure, x: Sequence[float], y: pd.Series, matrix: str, name: str, colour: str) -> None:
    figure.add_scatter(
        x=list(x),
        y=[value if value > _LEAST else None for value in y],
        name=name,
        mode="lines+markers",
        line={"color": colour, "dash": _DASHES[matrix], "width": 2},
        marker={"symbol": _MARKS[matrix], "size": 8},
        hovertemplate=f"{name}<br>%{{x}}: %{{y:.3g}}<extra></extra>",
    )


def _finished(figure: go.Figure, axis: str, title: str, mode: Mode) -> go.Figure:
    drawn = [value for line in figure.data for value in line.y if value is not None]
    wide = bool(drawn) and max(drawn) > 100 * min(drawn)
    figure.update_yaxes(type="log", exponentformat="power", dtick=None if wide else "D2", title_text=axis)
    return figure.update_layout(
        template=theme.template(mode), title_text=title, legend={**theme.LEGEND_BELOW, "y": -0.28}, height=400
    )
