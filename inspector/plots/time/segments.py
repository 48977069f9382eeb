"""A text in segments as a figure: how far each token's last hidden state is from the one pass."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.segments import Segmented

LINES = 16  # segments whose borders are drawn, at most
STRAIGHT = 8  # tokens whose names stand straight where there is room


def apart(found: Segmented, *, tokens: Sequence[str], mode: Mode = "light") -> go.Figure:
    """Draw the difference of each token, in percent, with this memory and with one as long as the text.

    A line stands where a segment begins, unless there are many.
    """
    figure, part = go.Figure(), theme.PART[mode]
    few = len(found.starts) <= LINES
    memory = "no memory" if not found.memory else f"memory of {found.memory}"
    for values, name, colour, dash in (
        (found.changed, memory, part["positions"], "solid"),
        (found.at_most, "memory as long as the text", part["residual"], "dot"),
    ):
        figure.add_scatter(
            x=list(range(len(tokens))),
            y=100 * values,
            name=name,
            mode="lines+markers" if few else "lines",
            line={"color": colour, "dash": dash, "width": 2},
            marker={"size": 6},
            customdata=[theme.visible(token) for token in tokens],
            hovertemplate=f"%{{customdata}}, token %{{x}}<br>{name}: %{{y:.3g}} %<extra></extra>",
        )
    axis = theme.token_axis(tokens, title="token")
    if len(tokens) > STRAIGHT:
        axis["tickangle"] = -60
    for start in found.starts[1:] if few else ():
        figure.add_vline(x=float(start) - 0.5, line={"color": theme.PRIMARY[mode], "width": 1})
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Difference from one pass",
        xaxis=axis,
        yaxis={"title": {"text": "difference (%)"}, "range": [0, max(106 * float(found.changed.max()), 1.0)]},
        legend=theme.LEGEND_ABOVE,
        margin={"t": 64},
        height=400,
    )
