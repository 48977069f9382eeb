"""LayerNorm as figures: what it does to each token, norm by norm, and its gamma and beta by dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inspector.normalization import Size
from inspector.plots import theme
from inspector.plots.theme import Mode

_PARTS = {"attention": "attention", "ffn": "FFN", "cross": "cross-attention"}
_STATISTICS = {"mean": "mean", "std": "standard deviation", "rms": "root mean square"}
_MOST_LABELS = 8  # outliers named in a panel, the farthest first; all are marked


def by_token(statistics: pd.DataFrame, *, position: int, size: Size = "std", mode: Mode = "light") -> go.Figure:
    """Draw one token's way through all norms: the size of its vector and its mean, before and after each norm.

    statistics: of `normalization.statistics`. size: "std", the deviation over the dimensions, by which a LayerNorm
    divides, or "rms", the root mean square, by which an RMSNorm divides. Raises ValueError for a position that the text
    does not have.
    """
    rows = statistics[statistics["position"] == position].sort_values("norm")
    if rows.empty:
        raise ValueError(f"there is no token {position}: the text has tokens 0 to {statistics['position'].max()}")
    names = labels(rows)
    figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.08)
    styles = (("before", theme.PART[mode]["residual"], "dash"), ("after", theme.PART[mode]["norm"], "solid"))
    for row, statistic in enumerate((size, "mean"), start=1):
        for when, colour, dash in styles:
            figure.add_scatter(
                x=theme.token_names(names),
                y=rows[f"{statistic}_{when}"],
                row=row,
                col=1,
                name=when,
                legendgroup=when,
                showlegend=row == 1,
                mode="lines+markers",
                line={"color": colour, "dash": dash, "width": 2},
                marker={"size": 7, "symbol": "circle-open" if when == "before" else "circle"},
                hovertemplate=f"%{{x}}<br>{statistic} {when} %{{y:.3g}}<extra></extra>",
            )
    figure.update_yaxes(title_text=_STATISTICS[size], rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="mean", row=2, col=1)
    figure.update_xaxes(**_norm_axis(names, title=""))
    figure.update_xaxes(title_text="norm, in call order", tickangle=-45, row=2, col=1)
    token = theme.literal(rows["token"].iloc[0])
    return figure.update_layout(
        template=theme.template(mode),
        title_text=f"{token} through the norms",
        legend=theme.LEGEND_ABOVE,
        margin={"t": 76},
        height=520,
    )


def parameters(table: pd.DataFrame, *, norm: int, title: str = "", mode: Mode = "light") -> go.Figure:
    """Gamma and beta of one norm by dimension, those that it has, with the band of 3 deviations around their mean.

    table: of `normalization.parameters`. Outliers beyond the band (Kovaleva et al. 2021) are marked, the farthest
    labelled with their dimension. title: what the norm is called, its label where it is empty. Raises ValueError for a
    norm that is not in the table or has learned nothing.
    """
    rows = table[table["norm"] == norm]
    if rows.empty:
        raise ValueError(f"there is no norm {norm}: the model has norms 0 to {table['norm'].max()}")
    there = [parameter for parameter in ("gamma", "beta") if rows[parameter].notna().all()]
    if not there:
        raise ValueError(f"norm {norm} has learned nothing: it has neither gamma nor beta")
    figure = make_subplots(rows=len(there), shared_xaxes=True, vertical_spacing=0.08)
    for row, parameter in enumerate(there, start=1):
        values = rows[parameter].to_numpy(dtype=float)
        mean, reach = values.mean(), 3 * values.std()
        beyond = (np.abs(values - mean) > reach) & rows["outlier"].to_numpy()
        _points(figure, rows[~beyond], parameter, row=row, outliers=False, mode=mode)
        far = np.argsort(-np.abs(values - mean))[:_MOST_LABELS]
        named = beyond & np.isin(np.arange(len(values)), far)
        _points(figure, rows[beyond], parameter, row=row, outliers=True, mode=mode, named=named[beyond])
        band = {"y0": mean - reach, "y1": mean + reach, "fillcolor": theme.PART[mode]["norm"], "opacity": 0.12}
        figure.add_hrect(**band, row=row, col=1, line_width=0, layer="below")
        figure.update_yaxes(title_text=parameter, row=row, col=1)
    figure.update_xaxes(title_text="dimension", row=len(there), col=1)
    return figure.update_layout(
        template=theme.template(mode),
        title={
            "text": f"{' and '.join(there).capitalize()} of {title or labels(rows)[0]}",
            "subtitle": {"text": "shaded: within 3 standard deviations of the mean"},
        },
        legend=theme.LEGEND_ABOVE,
        margin={"t": 96},
        height=200 + 160 * len(there),
    )


def labels(table: pd.DataFrame) -> list[str]:
    """A short name of every norm of the table in call order: "embedding", "layer 0 attention", "layer 0 FFN"."""
    norms = table.drop_duplicates("norm").sort_values("norm")
    return [
        part if layer is pd.NA else f"layer {layer} {_PARTS.get(part, part)}"
        for layer, part in zip(norms["layer"], norms["part"], strict=True)
    ]


def _norm_axis(names: list[str], *, title: str) -> dict[str, Any]:
    """An axis over norms: their names are whole, and thinned as tokens are."""
    axis = theme.token_axis(names, title=title)
    return {**axis, "ticktext": [names[round(place)] for place in axis["tickvals"]]}


def _points(
    figure: go.Figure,
    rows: pd.DataFrame,
    parameter: str,
    *,
    row: int,
    outliers: bool,
    mode: Mode,
    named: Any = None,
) -> None:
    """The points of one panel: small and quiet, or large, ringed and labelled with their dimension."""
    dimensions = rows["dimension"].to_numpy()
    marker: dict[str, Any] = {"color": theme.PART[mode]["norm"], "size": 4}
    if outliers:
        marker = {"color": theme.TEXT[mode], "size": 9, "symbol": "diamond"}
    figure.add_scatter(
        x=dimensions,
        y=rows[parameter],
        row=row,
        col=1,
        mode="markers+text" if outliers else "markers",
        marker=marker,
        text=[str(d) if name else "" for d, name in zip(dimensions, named, strict=True)] if outliers else None,
        textposition="middle right",
        textfont={"size": 12},
        name="outlier" if outliers else "dimension",
        legendgroup=str(outliers),
        showlegend=row == 1,
        hovertemplate=f"dimension %{{x}}<br>{parameter} %{{y:.3g}}<extra></extra>",
    )
