"""[CLS] by layer: what its attention takes, and how much of its state is its own."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode

_TAKEN = {
    "itself": ("itself", "q", ""),
    "special": ("other special tokens", "scores", "/"),
    "text": ("the text", "out", "x"),
}


def attention(table: pd.DataFrame, *, mode: Mode = "light") -> go.Figure:
    """Draw what [CLS] takes from itself, from other special tokens and from the text; table: of `cls_attention`."""
    figure = go.Figure()
    for column, (name, part, pattern) in _TAKEN.items():
        figure.add_bar(
            x=table["layer"],
            y=table[column],
            name=name,
            marker={"color": theme.PART[mode][part], "pattern": {"shape": pattern}},
            hovertemplate=f"layer %{{x}}<br>{name} %{{y:.3~g}}<extra></extra>",
        )
    return _by_layer(figure, mode).update_layout(
        title_text="What [CLS] takes",
        barmode="stack",
        yaxis={"title": {"text": "weight, mean over heads"}, "range": [0, 1], "tickformat": ".3~g"},
    )


def parts(table: pd.DataFrame, *, mode: Mode = "light") -> go.Figure:
    """Draw the lengths of what is its own in the state of [CLS] and of what others gave; table: of `cls_parts`."""
    figure = go.Figure()
    for column, name, part, pattern in (
        ("own", "its own", "residual", ""),
        ("others", "from others", "attention", "/"),
    ):
        figure.add_bar(
            x=table["layer"],
            y=table[column],
            name=name,
            marker={"color": theme.PART[mode][part], "pattern": {"shape": pattern}},
            customdata=table["mixing"],
            hovertemplate=f"layer %{{x}}<br>{name}: length %{{y:.3~g}}<br>share from others %{{customdata:.1%}}"
            "<extra></extra>",
        )
    return _by_layer(figure, mode).update_layout(
        title_text="What the state of [CLS] is made of",
        barmode="group",
        yaxis={"title": {"text": "length of the vector"}, "rangemode": "tozero", "tickformat": ".3~g"},
    )


def _by_layer(figure: go.Figure, mode: Mode) -> go.Figure:
    return figure.update_layout(
        template=theme.template(mode),
        xaxis={"title": {"text": "layer"}, "dtick": 1},
        legend={**theme.LEGEND_ABOVE, "traceorder": "normal"},
        margin={"t": 76},
        bargap=0.3,
        height=320,
    )
