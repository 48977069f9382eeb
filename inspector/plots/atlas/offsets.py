"""The mean weight of a head on the key at each offset from the query, as a figure."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from inspector.atlas.measures import FARTHEST
from inspector.plots import theme
from inspector.plots.theme import Mode

OFFSETS = tuple(range(-FARTHEST, FARTHEST + 1))
_TICKS = OFFSETS[::4]


def bars(weights: NDArray[np.float64], *, title: str, mode: Mode = "light") -> go.Figure:
    """Draw the mean weight at each offset, [33] from -16 to 16; the token itself is drawn paler.

    Raises ValueError where offsets mean nothing, as between two texts.
    """
    if weights.shape != (len(OFFSETS),):
        raise ValueError(f"{weights.shape} weights are not one for each of {len(OFFSETS)} offsets")
    if np.isnan(weights).all():
        raise ValueError("offsets mean nothing between two texts")
    part = theme.PART[mode]
    said = [_place(offset) for offset in OFFSETS]
    figure = go.Figure(
        go.Bar(
            x=list(OFFSETS),
            y=weights,
            marker={"color": [part["attention"] if offset else part["out"] for offset in OFFSETS]},
            customdata=said,
            hovertemplate="%{customdata}: %{y:.2%}<extra></extra>",
            name="mean weight",
        )
    )
    rest = max(0.0, 1.0 - float(np.nansum(weights)))
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": title, "subtitle": {"text": f"{rest:.0%} of the weight lies farther away"}},
        xaxis={
            "title": {"text": "tokens from the query to the key"},
            "tickvals": _TICKS,
            "ticktext": [f"{tick:+d}" if tick else "0" for tick in _TICKS],
        },
        yaxis={"title": {"text": "mean weight"}, "tickformat": ".0%", "rangemode": "tozero", "nticks": 5},
        showlegend=False,
        margin={"t": 76},
        bargap=0.2,
        height=300,
    )


def _place(offset: int) -> str:
    if not offset:
        return "the token itself"
    tokens = "1 token" if abs(offset) == 1 else f"{abs(offset)} tokens"
    return f"{tokens} {'back' if offset < 0 else 'ahead'}"
