"""A batch as cells: its tokens and its padding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import token_name

_MOST_NAMED = 26  # columns whose cells have room for their token
_LETTERS = 140  # of a row of cells, at the page's width


def cells(
    tokens: Sequence[Sequence[str]], keep: NDArray[np.bool_], *, narrow: bool = False, mode: Mode = "light"
) -> go.Figure:
    """Draw a batch as cells, a row for each text: its tokens, and the padding that makes the rows one length.

    tokens: T of each text, padding included; keep: [B, T], False on padding. narrow: whether there is
    no room for tokens in the cells; they are named on hover.
    """
    texts, columns = keep.shape
    room = max(2, _LETTERS // columns)  # letters that fit into a cell
    whole = [[token_name(token) for token in row] for row in tokens]
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
