"""Norms by depth as figures: sizes before and after, and what was learned, as curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inspector.plots import theme
from inspector.plots.theme import Mode

Form = Literal["sorted", "histogram"]
_WORDS = {"mean": "mean", "std": "standard deviation", "rms": "root mean square"}
_BINS = 40


def by_depth(statistics: pd.DataFrame, *, names: Sequence[str], mode: Mode = "light") -> go.Figure:
    """Draw mean, deviation and root mean square of all tokens before and after each norm: median, and the whole range.

    statistics: of `normalization.statistics`. names: of the norms, in call order.
    """
    figure = make_subplots(rows=3, shared_xaxes=True, vertical_spacing=0.06)
    styles = (("before", theme.PART[mode]["residual"], "dash"), ("after", theme.PART[mode]["norm"], "solid"))
    labels = theme.token_names(names)
    for row, (statistic, word) in enumerate(_WORDS.items(), start=1):
        for when, colour, dash in styles:
            found = statistics.groupby("norm")[f"{statistic}_{when}"].agg(["median", "min", "max"])
            figure.add_scatter(
                x=[*labels, *labels[::-1]],
                y=[*found["max"], *found["min"][::-1]],
                row=row,
                col=1,
                fill="toself",
                fillcolor=colour,
                opacity=0.15,
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
            figure.add_scatter(
                x=labels,
                y=found["median"],
                row=row,
                col=1,
                name=f"{when}: median of the tokens",
                legendgroup=when,
                showlegend=row == 1,
                mode="lines+markers",
                line={"color": colour, "dash": dash, "width": 2},
                marker={"size": 6},
                customdata=found[["min", "max"]],
                hovertemplate=f"%{{x}}<br>{word} {when} %{{y:.3g}}<br>%{{customdata[0]:.3g}} to %{{customdata[1]:.3g}}"
                "<extra></extra>",
            )
        figure.update_yaxes(title_text={"mean": "mean", "std": "deviation", "rms": "RMS"}[statistic], row=row, col=1)
    axis = theme.token_axis(names, title="")
    figure.update_xaxes(tickvals=axis["tickvals"], ticktext=[names[round(at)] for at in axis["tickvals"]])
    figure.update_xaxes(title_text="norm, in call order", tickangle=-45, row=3, col=1)
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": "All tokens by depth", "subtitle": {"text": "line: median; shaded: smallest to largest token"}},
        legend=theme.LEGEND_ABOVE,
        margin={"t": 96},
        height=620,
    )


def learned(table: pd.DataFrame, *, norm: int, form: Form, title: str = "", mode: Mode = "light") -> go.Figure:
    """Draw gamma and beta of one norm, those that it has, in the order of their size or as counts.

    table: of `normalization.parameters`. Raises ValueError for a norm that has learned nothing or is not there.
    """
    rows = table[table["norm"] == norm]
    there = [name for name in ("gamma", "beta") if len(rows) and rows[name].notna().all()]
    if not there:
        raise ValueError(f"norm {norm} has neither gamma nor beta, or is not there")
    figure = make_subplots(rows=1, cols=len(there), horizontal_spacing=0.12)
    for col, name in enumerate(there, start=1):
        values = rows[name].to_numpy(dtype=float)
        colour = theme.PART[mode]["norm"]
        if form == "sorted":
            order = np.argsort(values)
            figure.add_scatter(
                x=np.arange(len(values)),
                y=values[order],
                customdata=rows["dimension"].to_numpy()[order],
                row=1,
                col=col,
                mode="lines",
                line={"color": colour, "width": 2},
                hovertemplate=f"dimension %{{customdata}}<br>{name} %{{y:.3g}}<extra></extra>",
            )
            figure.update_xaxes(title_text="rank, smallest first", row=1, col=col)
            figure.update_yaxes(title_text=name, row=1, col=col)
        else:
            counts, edges = np.histogram(values, bins=_BINS)
            figure.add_bar(
                x=(edges[:-1] + edges[1:]) / 2,
                y=counts,
                width=np.diff(edges),
                row=1,
                col=col,
                marker={"color": colour},
                hovertemplate=f"{name} %{{x:.3g}}<br>%{{y}} dimensions<extra></extra>",
            )
            figure.update_xaxes(title_text=name, row=1, col=col)
            figure.update_yaxes(title_text="dimensions", row=1, col=col)
    return figure.update_layout(
        template=theme.template(mode),
        title_text=f"{' and '.join(there).capitalize()} of {title or f'norm {norm}'}",
        showlegend=False,
        height=320,
    )
