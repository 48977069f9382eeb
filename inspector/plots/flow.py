"""Figures of the flow along attention: a token's way back through the layers, and what each key hands over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from inspector.plots import theme
from inspector.plots.theme import Mode, Scale

Shares = NDArray[np.floating[Any]]


def rollout(
    shares: Shares,
    *,
    tokens: Sequence[str],
    token: str,
    layers: Sequence[str] | None = None,
    mode: Mode = "light",
    scale: Scale = "linear",
) -> go.Figure:
    """Attention rollout of one token as a heatmap: shares [L + 1, T] of flow.rollout, the last layer on top.

    Columns are tokens; a row says how much of each token's state before that layer is in the chosen token's last one.
    layers: names of the L attentions, where they are not "layer 0" and so on.
    Raises ValueError where shares, tokens and layers do not fit.
    """
    if shares.ndim != 2 or shares.shape[1] != len(tokens):
        raise ValueError(f"shares of shape {shares.shape} do not fit {len(tokens)} tokens")
    names = [f"layer {layer}" for layer in range(len(shares) - 1)] if layers is None else list(layers)
    if len(names) != len(shares) - 1:
        raise ValueError(f"{len(names)} layers do not fit shares of shape {shares.shape}")
    rows = [*(f"before {name}" for name in names), f"after {names[-1]}"]
    drawn = go.Heatmap(
        z=shares,
        x=theme.token_names(tokens),
        y=rows,
        xgap=1 if len(tokens) <= theme.MOST_TICKS else 0,
        ygap=1,
        colorscale=(theme.plotly_scale if scale == "linear" else theme.root_scale)(theme.SEQUENTIAL[mode]),
        zmin=0.0,
        zmax=float(shares[:-1].max()) or 1.0,  # the last row is the token alone, 1
        colorbar=theme.colour_bar(mode, "share"),
        hovertemplate=f"%{{z:.4~g}} of {theme.literal(token)} after the last layer<br>came from %{{x}}, %{{y}}"
        "<extra></extra>",
    )
    frame = {"mirror": True, "linecolor": theme.MUTED[mode]}
    return go.Figure(
        drawn,
        layout={
            "template": theme.template(mode),
            "margin": {"t": 12},
            "xaxis": {**theme.token_axis(tokens, title="token"), **frame, "tickangle": -90},
            "yaxis": {"title": {"text": ""}, "showgrid": False, "ticks": "", **frame},
            "height": round(170 + min(30 * len(rows), 700)),
        },
    )


def handed_over(norms: Shares, *, keys: Sequence[str], mode: Mode = "light") -> go.Figure:
    """||v_j W_O|| of each key as bars: what a weight of 1 would move; norms [T].

    Raises ValueError where norms and keys do not fit.
    """
    if norms.shape != (len(keys),):
        raise ValueError(f"norms of shape {norms.shape} do not fit {len(keys)} keys")
    drawn = go.Bar(
        x=theme.token_names(keys),
        y=norms,
        marker={"color": theme.PART[mode]["v"], "line": {"width": 0}},
        hovertemplate="key %{x}<br>hands over %{y:.9~g}<extra></extra>",
    )
    return go.Figure(
        drawn,
        layout={
            "template": theme.template(mode),
            "margin": {"t": 12},
            "xaxis": {**theme.token_axis(keys, title="key"), "tickangle": -90},
            "yaxis": {"title": {"text": "length"}, "rangemode": "tozero", "nticks": 4},
            "height": 220,
            "bargap": 0.2,
        },
    )
