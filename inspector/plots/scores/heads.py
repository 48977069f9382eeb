"""Scores of one head as figures: q . k beside the normal distribution, and its quantiles."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.scores import ProductDistribution

_HEIGHT = 320


def histogram(found: ProductDistribution, *, mode: Mode = "light") -> go.Figure:
    """Draw how often q . k takes each value, in standard deviations, with the normal distribution over it."""
    middle = (found.edges[1:] + found.edges[:-1]) / 2
    width = float(found.edges[1] - found.edges[0])
    figure = go.Figure(
        go.Bar(
            x=middle,
            y=found.counts / (found.pairs * width),
            width=width,
            marker_color=theme.PART[mode]["scores"],
            name="q · k",
            hovertemplate="%{x:.3g} standard deviations<br>density %{y:.3g}<extra></extra>",
        )
    )
    at = np.linspace(found.edges[0], found.edges[-1], 241)
    figure.add_scatter(
        x=at,
        y=np.exp(-np.square(at) / 2) / np.sqrt(2 * np.pi),
        mode="lines",
        name="normal",
        line={"color": theme.TEXT[mode], "width": 2},
        hovertemplate="normal: %{y:.3g}<extra></extra>",
    )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="q · k over all pairs, beside the normal distribution",
        xaxis={"title": {"text": "standard deviations from the mean"}},
        yaxis={"title": {"text": "density"}, "rangemode": "tozero"},
        legend=theme.LEGEND_ABOVE,
        bargap=0,
        height=_HEIGHT,
    )


def quantiles(found: ProductDistribution, *, mode: Mode = "light") -> go.Figure:
    """Draw the quantiles of q . k against the normal distribution's (QQ plot): on the line where it is normal."""
    ends = [float(found.normal[0]), float(found.normal[-1])]
    figure = go.Figure(
        go.Scatter(
            x=ends,
            y=ends,
            mode="lines",
            name="normal",
            line={"color": theme.TEXT[mode], "width": 2},
            hoverinfo="skip",
        )
    )
    figure.add_scatter(
        x=found.normal,
        y=found.measured,
        mode="markers",
        name="q · k",
        marker={"color": theme.PART[mode]["scores"], "size": 6},
        hovertemplate="normal %{x:.3g}<br>q · k %{y:.3g}<extra></extra>",
    )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Quantiles of q · k against the normal distribution's",
        xaxis={"title": {"text": "normal quantile"}},
        yaxis={"title": {"text": "quantile of q · k (standard deviations)"}},
        legend=theme.LEGEND_ABOVE,
        height=_HEIGHT,
    )
