"""Learning of pieces as figures: the pairs to choose from, the corpus's length by merges, what pruning costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.vocabularies import Rule

_LINES: dict[Rule, tuple[str, str]] = {
    "count": ("solid", "prediction"),
    "ratio": ("dot", "positions"),
    "gain": ("dash", "norm"),
}


def pairs(table: pd.DataFrame, *, top: int, mode: Mode = "light") -> go.Figure:
    """Draw the counts of the `top` first pairs as bars, the chosen one in full colour; table: of readings."""
    shown = table.head(top)
    return _bars(
        [f"{first} + {second}" for first, second in zip(shown["first"], shown["second"], strict=True)],
        shown["count"].tolist(),
        quantity="times in the corpus",
        title="The most frequent pairs",
        chosen=1,
        mode=mode,
    )


def losses(table: pd.DataFrame, *, top: int, mode: Mode = "light") -> go.Figure:
    """Draw what the corpus loses without each of the `top` pieces that it misses least; table: of `losses`."""
    shown = table.head(top)
    return _bars(
        shown["piece"].tolist(),
        shown["loss"].tolist(),
        quantity="log-likelihood lost without it (nats)",
        title="The next to be pruned",
        chosen=0,
        mode=mode,
    )


def _bars(
    names: Sequence[str], values: Sequence[float], *, quantity: str, title: str, chosen: int, mode: Mode
) -> go.Figure:
    """Draw bars, the first on top; chosen: how many of the first are in full colour."""
    bars = go.Bar(
        y=[theme.literal(name) for name in names],
        x=list(values),
        orientation="h",
        marker={
            "color": theme.PART[mode]["prediction" if chosen else "embedding"],
            "opacity": [1.0 if at < chosen or not chosen else 0.4 for at in range(len(names))],
        },
        text=[theme.number(value) if isinstance(value, float) else f"{value:,}" for value in values],
        textposition="outside",
        cliponaxis=False,
        hovertemplate=f"%{{y}}<br>{quantity} %{{x:.6~g}}<extra></extra>",
    )
    return go.Figure(
        bars,
        layout={
            "template": theme.template(mode),
            "title": {"text": title},
            "xaxis": {"title": {"text": quantity}, "rangemode": "tozero", "nticks": 5, "tickformat": ",.6~g"},
            "yaxis": {
                "type": "category",
                "autorange": "reversed",
                "showgrid": False,
                "ticks": "",
                "tickfont": {"family": theme.TOKEN_FONT, "size": 13},
            },
            "margin": {"r": 56},
            "bargap": 0.3,
            "height": 120 + 24 * len(names),
        },
    )


def lengths(
    lengths: Mapping[Rule, Sequence[int]], *, names: Mapping[Rule, str], step: int, mode: Mode = "light"
) -> go.Figure:
    """Draw the symbols of the corpus after each merge, a line per rule, and where the reader is; lengths: by rule."""
    figure, part = go.Figure(), theme.PART[mode]
    for rule, values in lengths.items():
        dash, colour = _LINES[rule]
        figure.add_scatter(
            x=list(range(len(values))),
            y=list(values),
            mode="lines",
            name=names[rule],
            line={"color": part[colour], "dash": dash, "width": 2},
            hovertemplate=f"{names[rule]}<br>%{{x}} merges, %{{y:,}} symbols<extra></extra>",
        )
    first = next(iter(lengths.values()))
    figure.add_scatter(
        x=[step],
        y=[first[step]],
        mode="markers",
        marker={"size": 11, "color": part["prediction"], "line": {"width": 2, "color": theme.BACKGROUND[mode]}},
        showlegend=False,
        hovertemplate="here: %{x} merges, %{y:,} symbols<extra></extra>",
    )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Length of the corpus by merges",
        xaxis={"title": {"text": "merges"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "symbols of the corpus"}, "rangemode": "tozero"},
        legend=theme.LEGEND_BELOW | {"y": -0.28},
        height=330,
    )
