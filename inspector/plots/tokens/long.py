"""Cosines with full attention of each way to read a long text, by the position of the token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from inspector.long_texts import Name
from inspector.plots import theme
from inspector.plots.theme import Mode

SMOOTH = 9  # tokens whose mean is drawn, so that the lines can be told apart
_DASHED = ("ends", "bigbird")


def cosines(
    values: Mapping[Name, NDArray[np.float64]],
    *,
    tokens: Sequence[str],
    names: Mapping[Name, str],
    chosen: Name,
    mode: Mode = "light",
) -> go.Figure:
    """Draw each way's cosine with full attention by position, the mean of SMOOTH tokens; the chosen way by token too.

    values: [n] for each way, NaN where a token is dropped, which leaves a gap.
    """
    figure = go.Figure()
    colours = (*theme.HEADS[mode], theme.MUTED[mode])
    places = list(range(len(tokens)))
    for (name, found), colour in zip(values.items(), colours, strict=False):
        main = name == chosen
        if main:
            figure.add_scatter(
                x=places,
                y=found,
                mode="markers",
                marker={"size": 3.5, "color": colour, "opacity": 0.55},
                customdata=[theme.literal(token) for token in tokens],
                hovertemplate=f"%{{customdata}} (token %{{x}})<br>{names[name]}: cosine %{{y:.3f}}<extra></extra>",
                showlegend=False,
            )
        figure.add_scatter(
            x=places,
            y=smoothed(found),
            mode="lines",
            name=names[name],
            line={
                "color": colour,
                "width": 3.5 if main else 1.6,
                "dash": "dot" if name in _DASHED else "solid",
            },
            opacity=1.0 if main else 0.8,
            hovertemplate=f"{names[name]}<br>around token %{{x}}: %{{y:.3f}}<extra></extra>",
        )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Cosine with full attention",
        xaxis={"title": {"text": "token of the text"}, "range": [-1, len(tokens)]},
        yaxis={"title": {"text": f"cosine, mean of {SMOOTH} tokens"}, "tickformat": ".2~f"},
        legend={**theme.LEGEND_BELOW, "y": -0.28},  # in a narrow window it has a row for each way
        height=400,
    )


def smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average each value with its neighbours, SMOOTH in all, over what is there; NaN stays NaN."""
    there = ~np.isnan(values)
    ones = np.ones(SMOOTH)
    sums, counts = (np.convolve(one, ones, mode="full") for one in (np.where(there, values, 0.0), there.astype(float)))
    inside = slice(SMOOTH // 2, SMOOTH // 2 + len(values))
    return np.where(there, sums[inside] / np.maximum(counts[inside], 1), np.nan)
