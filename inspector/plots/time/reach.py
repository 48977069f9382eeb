"""Gradients of a loaded model by distance, and by the ways on which they come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import number


@dataclass(frozen=True)
class Mean:
    """A mean of the tokens at a range of distances, drawn across them. name: in the legend."""

    name: str
    norm: float
    distances: tuple[int, int]


_SHADES = (4, 7, 11)  # of theme.SEQUENTIAL, from the first layer shown to the last
_DASHES = ("solid", "dash", "dot")
BEYOND = 0.4  # of a token: so far a mean reaches beyond the first and the last
FEW = 4  # powers of ten on an axis, which are then written as numbers: "0.01", "0.1"


def by_distance(
    table: pd.DataFrame, *, layers: Sequence[int], means: Sequence[Mean] = (), mode: Mode = "light"
) -> go.Figure:
    """Draw ||ds / dx_t|| by distance on a logarithmic scale, a line for each of up to three layers.

    table: one scalar's rows of a stream, of `reach.measure`. means: of layer 0, at most three, drawn over the lines.
    Where distance is not known, in a source, the axis is the position. A gradient of 0, of what a causal mask hides,
    has no point.
    """
    figure = go.Figure()
    source = bool(table["distance"].isna().all())
    shades, seen = _SHADES[-len(layers) :], table[table["norm"] > 0]
    for layer, shade, dash in zip(layers, shades, _DASHES, strict=False):
        rows = seen[seen["layer"] == layer].sort_values("position", ascending=source)
        at = rows["position"] if source else rows["distance"].astype(int)
        few = len(rows) <= theme.MOST_TICKS  # points of many tokens would hide the line, and dashes its peaks
        figure.add_scatter(
            x=at,
            y=rows["norm"],
            mode="lines+markers" if few else "lines",
            name=f"x entering layer {layer}",
            line={"color": theme.SEQUENTIAL[mode][shade], "dash": dash if few else "solid", "width": 2.5 if few else 1},
            marker={"size": 6},
            customdata=list(zip(rows["position"], map(theme.literal, rows["token"]), strict=True)),
            text=[number(value) for value in rows["norm"]],
            hovertemplate=f"%{{customdata[0]}} %{{customdata[1]}}<br>distance %{{x}}, layer {layer}<br>%{{text}}"
            "<extra></extra>",
        )
    for mean, dash in zip(means, _DASHES, strict=False):
        at = _across(mean, seen["distance"])
        figure.add_scatter(
            x=at,
            y=[None if place is None else mean.norm for place in at],
            mode="lines",
            name=mean.name,
            line={"color": theme.PART[mode]["ffn"], "width": 4, "dash": dash},
            hoverinfo="skip",
        )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Gradient by distance",
        xaxis={
            "title": {"text": "position in the source" if source else "distance T − t, in tokens"},
            "dtick": 1 if table["position"].nunique() < 8 else None,
        },
        yaxis=_logarithmic(seen["norm"], "‖∂s / ∂x_t‖"),
        legend={**theme.LEGEND_BELOW, "y": -0.24},
        showlegend=True,
        height=380,
    )


def _across(mean: Mean, distances: pd.Series) -> list[float | None]:
    """Lay a mean's line over its tokens before T and behind it, with a gap between."""
    first, last = mean.distances
    places: list[float | None] = []
    for side in (1, -1):
        within = [int(away) for away in distances.unique() if first <= side * away <= last]
        if within:
            places += [min(within) - BEYOND, max(within) + BEYOND, None]
    return places


def by_way(table: pd.DataFrame, names: Mapping[str, str], *, mode: Mode = "light") -> go.Figure:
    """Draw the norm of the whole gradient by layer, a line for each way back: all, through sublayers alone, the skip.

    table: way, layer, norm. names: of the ways, in the legend.
    """
    figure = go.Figure()
    part = theme.PART[mode]
    colours = {"all": part["attention"], "sublayers": part["ffn"], "skip": part["residual"]}
    seen = table[table["norm"] > 0]
    for (way, rows), dash in zip(seen.groupby("way", sort=False), _DASHES, strict=False):
        figure.add_scatter(
            x=rows["layer"],
            y=rows["norm"],
            mode="lines+markers",
            name=names[str(way)],
            line={"color": colours[str(way)], "dash": dash, "width": 2.5},
            marker={"size": 7},
            text=[number(value) for value in rows["norm"]],
            hovertemplate=f"x entering layer %{{x}}<br>{names[str(way)]} %{{text}}<extra></extra>",
        )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="What the residual carries",
        xaxis={"title": {"text": "x entering layer"}, "dtick": 1 if table["layer"].max() < 12 else None},
        yaxis=_logarithmic(seen["norm"], "‖∂s / ∂x‖ over all tokens"),
        legend={**theme.LEGEND_BELOW, "y": -0.26},
        showlegend=True,
        height=360,
    )


def _logarithmic(values: pd.Series, title: str) -> dict[str, object]:
    """An axis whose ticks are whole numbers of an exponent, or 1, 2 and 5 of each where there are few."""
    axis: dict[str, object] = {"title": {"text": title}, "type": "log", "exponentformat": "power", "nticks": 6}
    if values.empty:
        return axis
    low, high = log10(float(values.min())), log10(float(values.max()))
    low, high = min(floor(low * 2) / 2, high - 1), high + 0.15
    axis |= {"range": [low, high]}
    if high - low > FEW:
        return axis
    steps = (1, 2, 5) if high - low < FEW / 2 else (1,)
    ticks = [step * 10.0**power for power in range(floor(low), ceil(high)) for step in steps]
    return axis | {"tickvals": ticks, "ticktext": [f"{tick:.3g}" for tick in ticks]}
