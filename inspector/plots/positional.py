"""Position tables as figures: some dimensions as curves, the whole table, how alike positions are by their distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from inspector.plots import theme
from inspector.plots.theme import Mode

Table = NDArray[np.floating[Any]]

_DASHES = ("solid", "dash", "dot", "dashdot")
_SINE_COSINE = ("solid", "dot")  # even dimensions are sines, odd ones cosines
# Positions' violet from strong to faint in equal steps of lightness, for as many curves as stay apart.
_VIOLETS: dict[Mode, tuple[str, ...]] = {
    "light": ("#58016d", "#72018b", "#8721a1", "#9b3ab7", "#b04fcc", "#c665e3", "#dc7af9", "#e79cfe"),
    "dark": ("#f7deff", "#efbeff", "#e89cff", "#d684ee", "#c070d9", "#ac5cc3", "#9748af", "#83349a"),
}
_COLOURED = (
    0.995  # share of a table's cells within the colour range; a few outlying dimensions would else pale the rest
)


def curves(tables: Mapping[str, Table], *, dimensions: Sequence[int], mode: Mode = "light") -> go.Figure:
    """Values of some dimensions along the positions, a panel per table [T, D]; panels share the positions' axis.

    tables: by the name that the panel gets, such as {"sinusoidal": ..., "minilm": ...}. Each panel has its own range of
    values: a learned table's are far smaller than the sinusoidal's -1 to 1. Raises ValueError for a dimension that a
    table does not have.
    """
    for name, table in tables.items():
        wrong = [dimension for dimension in dimensions if not 0 <= dimension < table.shape[1]]
        if wrong:
            raise ValueError(f"{name} has dimensions 0 to {table.shape[1] - 1}, so not {wrong}")
    figure = make_subplots(rows=len(tables), shared_xaxes=True, vertical_spacing=0.08)
    shades = _shades(len(dimensions), mode)
    for row, (name, table) in enumerate(tables.items(), start=1):
        for place, dimension in enumerate(dimensions):
            figure.add_scatter(
                x=np.arange(len(table)),
                y=table[:, dimension],
                row=row,
                col=1,
                name=str(dimension),
                legendgroup=str(dimension),
                showlegend=row == 1,
                mode="lines",
                line={"color": shades[place], "dash": _SINE_COSINE[dimension % 2], "width": 1.5},
                hovertemplate=f"position %{{x}}<br>dimension {dimension}: %{{y:.3g}}<extra></extra>",
            )
        figure.update_yaxes(title_text=theme.literal(name), row=row, col=1)
    figure.update_xaxes(title_text="position", row=len(tables), col=1)
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Position encodings by dimension",
        legend={**theme.LEGEND_ABOVE, "title": {"text": "dimension"}},
        margin={"t": 92},
        height=130 + 200 * len(tables),
    )


def reach(table: Table) -> float:
    """The end of the colour scale of a position table: 99.5 % of its values are smaller."""
    return float(np.quantile(np.abs(table), _COLOURED)) or 1.0


def similarity_by_distance(
    tables: Mapping[str, pd.DataFrame], *, quantity: str = "cosine", mode: Mode = "light"
) -> go.Figure:
    """Mean cosine of two positions against how far apart they are, with a band of one standard deviation.

    quantity: what it is the mean of, where it is no cosine.
    tables: of `positional.similarity_by_distance`, by name. Lines differ by colour and by dash. A wide band says that
    the similarity depends on where the two positions are, a vanishing one that it depends on their distance alone.
    """
    part = theme.PART[mode]
    colours = (part["positions"], part["residual"], part["norm"], part["ffn"])
    figure = go.Figure()
    for place, (name, rows) in enumerate(tables.items()):
        distance, mean, std = (rows[column].to_numpy(dtype=float) for column in ("distance", "mean", "std"))
        colour = colours[place % len(colours)]
        figure.add_scatter(
            x=np.concatenate([distance, distance[::-1]]),
            y=np.concatenate([mean + std, (mean - std)[::-1]]),
            fill="toself",
            fillcolor=_translucent(colour, 0.2),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            legendgroup=name,
            showlegend=False,
        )
        figure.add_scatter(
            x=distance,
            y=mean,
            customdata=std,
            name=theme.literal(name),
            legendgroup=name,
            mode="lines",
            line={"color": colour, "dash": _DASHES[place % len(_DASHES)], "width": 2.5},
            hovertemplate=f"distance %{{x}} tokens<br>{quantity} %{{y:.3g}} ± %{{customdata:.3g}}",
        )
    return figure.update_layout(
        template=theme.template(mode),
        title={
            "text": "Similarity of positions by distance",
            "subtitle": {"text": f"mean {quantity} of all pairs, band ± 1 standard deviation"},
        },
        xaxis_title_text="distance (tokens)",
        yaxis_title_text="cosine similarity" if quantity == "cosine" else quantity,
        legend=theme.LEGEND_ABOVE,
        margin={"t": 96},
        height=430,
    )


def _shades(count: int, mode: Mode) -> list[str]:
    """`count` violets, far apart in lightness: the first stands out most."""
    stops = _VIOLETS[mode]
    return [stops[round(place * (len(stops) - 1) / max(count - 1, 1))] for place in range(count)]


def _translucent(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
