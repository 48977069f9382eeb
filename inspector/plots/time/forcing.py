"""One pass against step by step as a figure: the largest difference of a logit at each position."""

from __future__ import annotations

import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.stepwise import ForcedReading

_STYLES = {"cached": ("q", "solid", "circle"), "uncached": ("out", "dash", "diamond"), "exact": ("norm", "dot", "x")}
_STRAIGHT = 12  # tokens whose names stand straight where there is room
_ROOM = 3.0  # a difference of 0 stands at so small a part of the smallest other one


def differences(found: ForcedReading, *, mode: Mode = "light") -> go.Figure:
    """Draw the differences on a log axis, where 0 stands at the lower edge."""
    table, dtype = found.table, found.dtype
    names = {
        "cached": f"with the cache, {dtype}",
        "uncached": f"without, {dtype}",
        "exact": "with the cache, float64",
    }
    shown = {key: table[key] for key in names if table[key].notna().all() and (found.cache_bytes or key != "cached")}
    sizes = [size for values in shown.values() for size in values if size > 0] or [1e-16]
    floor = min(sizes) / _ROOM
    tokens = list(table["token"])
    figure = go.Figure()
    for key, values in shown.items():
        part, dash, symbol = _STYLES[key]
        figure.add_scatter(
            x=theme.token_names(tokens),
            y=values.clip(lower=floor),
            name=names[key],
            mode="lines+markers",
            line={"color": theme.PART[mode][part], "dash": dash, "width": 2},
            marker={"symbol": symbol, "size": 7},
            customdata=values,
            hovertemplate=f"%{{x}}<br>largest difference %{{customdata:.3~g}}<extra>{names[key]}</extra>",
        )
    axis = theme.token_axis(tokens, title="token that is read")
    if len(tokens) > _STRAIGHT:
        axis["tickangle"] = -60
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": "One pass against step by step"},
        xaxis=axis,
        yaxis={
            "title": {"text": "|difference| of a logit"},
            "type": "log",
            "tickformat": ".0e",
            "dtick": 2 if max(sizes) / floor > 1e6 else 1,
        },
        legend=theme.LEGEND_ABOVE,
        margin={"t": 76},
        height=360,
    )
