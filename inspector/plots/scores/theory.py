"""Random queries and keys by width: what the scale does to the softmax's gradients, and to q . k itself."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.scores.theory import WIDTHS, Entries, excess

Quantity = Literal["jacobian", "gradient", "variance", "excess"]
_TITLES: dict[Quantity, tuple[str, str]] = {
    "jacobian": ("How far a row moves with its scores", "‖J‖ of the softmax"),
    "gradient": ("How far a row moves with its query", "‖∂p / ∂q‖"),
    "variance": ("Variance of the scores", "variance"),
    "excess": ("Tails of q · k", "excess kurtosis"),
}
_SIDES = (("no scale", "", "ffn"), ("scaled", "scaled_", "attention"))
_LEAST = 1e-12  # where a logarithmic axis ends at the latest: rounding is below


def curves(
    table: pd.DataFrame, quantity: Quantity, *, entries: Entries, own: Sequence[int] = (), mode: Mode = "light"
) -> go.Figure:
    """Draw a number by d_k, both axes logarithmic: amber without the scale 1 / sqrt(d_k), indigo with it.

    Solid is the median of the rows, dashed their mean. "excess" has one measured line, for a factor changes no tails,
    and the line of theory. table: of `theory.drawn`; own: the d_k of the reader's heads, marked by a line.
    """
    figure = go.Figure()
    if quantity == "excess":
        colour = theme.PART[mode]["attention"]
        _line(figure, table["width"], table["excess"], name="drawn", colour=colour)
        expected = [excess(width, entries) for width in table["width"]]
        _line(figure, table["width"], expected, name="theory", colour=theme.MUTED[mode], dash="dot")
    else:
        for words, begin, part in _SIDES:
            for kind, dash in (("median", "solid"), ("mean", "dash")) if quantity != "variance" else (("", "solid"),):
                column = f"{begin}{quantity}" + (f"_{kind}" if kind else "")
                values = table[column].where(table[column] > _LEAST)
                name = f"{words}, {kind}" if kind else words
                _line(figure, table["width"], values, name=name, colour=theme.PART[mode][part], dash=dash)
        figure.update_yaxes(type="log", exponentformat="power", dtick=1 if quantity == "variance" else None)
    figure.update_xaxes(
        type="log", tickvals=WIDTHS[::2], ticktext=[f"{width:,}" for width in WIDTHS[::2]], title_text="d_k"
    )
    for width in own:
        figure.add_vline(x=width, line={"color": theme.MUTED[mode], "dash": "dot", "width": 1.5})
    if own:
        low = 0 if quantity in ("jacobian", "gradient") else 1  # where no line runs
        said = "your heads" if len(own) == 1 else "your widest heads"
        figure.add_annotation(
            x=log10(max(own)),
            y=low,
            yref="paper",
            text=f" {said}: {max(own):,}",
            showarrow=False,
            xanchor="left",
            yanchor="bottom" if low == 0 else "top",
            font={"size": 12, "color": theme.MUTED[mode]},
        )
    title, axis = _TITLES[quantity]
    return figure.update_layout(
        template=theme.template(mode),
        title_text=title,
        yaxis_title_text=axis,
        legend={**theme.LEGEND_BELOW, "y": -0.28},
        height=380,
    )


def _line(
    figure: go.Figure, x: Sequence[int], y: Sequence[float], *, name: str, colour: str, dash: str = "solid"
) -> None:
    figure.add_scatter(
        x=x,
        y=y,
        name=name,
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 2.5 if dash == "solid" else 1.5},
        marker={"size": 6 if dash == "solid" else 4},
        hovertemplate=f"d_k %{{x:,}}<br>{name} %{{y:.3g}}<extra></extra>",
    )
