"""A batch through several norms as figures: its cells and its positions; and untrained depth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import visible

_MOST_NAMED = 26  # columns whose cells have room for their token
_LETTERS = 140  # of a row of cells, at the page's width
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def cells(
    tokens: Sequence[Sequence[str]], keep: NDArray[np.bool_], *, narrow: bool = False, mode: Mode = "light"
) -> go.Figure:
    """Draw a batch as cells, a row for each text: its tokens, and the padding that makes the rows one length.

    tokens: T of each text, padding included; keep: [B, T], False on padding. narrow: whether there is
    no room for tokens in the cells; they are named on hover.
    """
    texts, columns = keep.shape
    room = max(2, _LETTERS // columns)  # letters that fit into a cell
    whole = [[visible(token) for token in row] for row in tokens]
    shown = [
        [
            theme.literal(token if len(token) <= room else f"{token[: room - 1]}…") if real else ""
            for token, real in zip(*row, strict=True)
        ]
        for row in zip(whole, keep, strict=True)
    ]
    named = [
        [theme.literal(token) if real else "padding" for token, real in zip(*row, strict=True)]
        for row in zip(whole, keep, strict=True)
    ]
    drawn = go.Heatmap(
        z=keep.astype(int),
        x=list(range(columns)),
        y=[f"text {row}" for row in range(texts)],
        text=shown,
        texttemplate="%{text}" if columns <= _MOST_NAMED and not narrow else None,
        textfont={"family": theme.TOKEN_FONT, "size": 11, "color": theme.TEXT[mode]},
        customdata=named,
        xgap=2 if columns <= 60 else 1,
        ygap=2,
        colorscale=[[0, theme.GRID[mode]], [1, theme.SEQUENTIAL[mode][3]]],
        zmin=0,
        zmax=1,
        showscale=False,
        hovertemplate="%{y}, column %{x}<br>%{customdata}<extra></extra>",
    )
    layout = {
        "template": theme.template(mode),
        "title": {"text": "The batch", "subtitle": {"text": "coloured: tokens; grey: padding"}},
        "xaxis": {"title": {"text": "column"}, "showgrid": False},
        "yaxis": {"autorange": "reversed", "showgrid": False},
        "margin": {"t": 76},
        "height": 150 + 30 * texts,
    }
    return go.Figure(drawn, layout=layout)


def by_position(table: pd.DataFrame, *, mode: Mode = "light") -> go.Figure:
    """Draw how many texts reach each column, and the deviation that BatchNorm finds there; table: of `by_position`."""
    figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.1)
    figure.add_bar(
        x=table["position"],
        y=table["count"],
        row=1,
        col=1,
        marker={"color": theme.PART[mode]["residual"]},
        hovertemplate="column %{x}: %{y} texts<extra></extra>",
    )
    figure.add_scatter(
        x=table["position"],
        y=table["deviation"],
        row=2,
        col=1,
        mode="lines+markers",
        line={"color": theme.PART[mode]["norm"], "width": 2},
        hovertemplate="column %{x}: deviation %{y:.3g}<extra></extra>",
    )
    figure.update_yaxes(title_text="texts", row=1, col=1, rangemode="tozero")
    figure.update_yaxes(title_text="deviation", row=2, col=1, rangemode="tozero")
    figure.update_xaxes(title_text="column", row=2, col=1)
    return figure.update_layout(
        template=theme.template(mode), title_text="BatchNorm by position", showlegend=False, height=380
    )


def through_depth(table: pd.DataFrame, *, mode: Mode = "light") -> go.Figure:
    """Draw activation, gradient and likeness of tokens by layer, a line per stack; table: of `through_depth`."""
    figure = make_subplots(rows=3, shared_xaxes=True, vertical_spacing=0.06)
    colours = theme.HEADS[mode]
    panels = (("activation", "activation"), ("gradient", "gradient"), ("cosine", "cosine"))
    for number, (name, rows) in enumerate(table.groupby("stack", sort=False)):
        for row, (value, _) in enumerate(panels, start=1):
            figure.add_scatter(
                x=rows["layer"],
                y=rows[value],
                row=row,
                col=1,
                name=str(name),
                legendgroup=str(name),
                showlegend=row == 1,
                mode="lines",
                line={"color": colours[number], "dash": _DASHES[number], "width": 2},
                hovertemplate=f"{name}<br>layer %{{x}}: {value} %{{y:.3g}}<extra></extra>",
            )
    for row, (value, title) in enumerate(panels, start=1):
        axis = {"type": "log", "exponentformat": "power", "nticks": 6} if value != "cosine" else {}
        figure.update_yaxes(title_text=title, row=row, col=1, **axis)
    figure.update_xaxes(title_text="after layer (−1: the embedding)", row=3, col=1)
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": "24 untrained layers", "subtitle": {"text": "untrained: no model of the list is drawn here"}},
        legend=theme.LEGEND_BELOW,
        margin={"t": 76},
        height=720,
    )
