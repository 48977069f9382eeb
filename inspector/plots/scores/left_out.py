"""Tokens left out: what each changes beside a head's attention to them, as ranks."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import cut, signed, visible

_NAMED = 40  # points with the token beside them; of a longer text the tokens are named on hover


def ranks(
    tokens: Sequence[str],
    attention: Sequence[float],
    values: Sequence[float],
    *,
    head: str,
    rho: float,
    mode: Mode = "light",
) -> go.Figure:
    """Draw a point for each token: its rank by a head's attention, and by what leaving it out changes; 1 is the least.

    Spearman's rho is the correlation of these two ranks: 1 on the rising diagonal, -1 on the falling one.
    """
    x, y = (pd.Series(one, dtype=float).rank() for one in (attention, values))
    names = [theme.literal(cut(visible(token))) for token in tokens]
    last = len(tokens)
    figure = go.Figure()
    figure.add_scatter(
        x=[1, last],
        y=[1, last],
        mode="lines",
        line={"color": theme.MUTED[mode], "dash": "dot", "width": 1},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers+text" if last <= _NAMED else "markers",
        text=names,
        textposition="top center",
        textfont={"family": theme.TOKEN_FONT, "size": 12},
        marker={"size": 9, "color": theme.PART[mode]["attention"]},
        customdata=list(zip(names, attention, values, strict=True)),
        hovertemplate="%{customdata[0]}<br>attention %{customdata[1]:.3g}, change %{customdata[2]:.3g}<extra></extra>",
        cliponaxis=False,
    )
    margin = max(0.6, 0.06 * last)
    axis = {"range": [1 - margin, last + margin]}
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": f"{head}: attention and change", "subtitle": {"text": f"Spearman's ρ = {signed(rho)}"}},
        xaxis={**axis, "title": {"text": "rank by attention (1 = least)"}},
        yaxis={**axis, "title": {"text": "rank by change (1 = least)"}},
        showlegend=False,
        height=400,
        margin={"t": 84},
    )
