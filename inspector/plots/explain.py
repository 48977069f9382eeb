"""One cell of a map as a figure: a query, a key, and what each dimension of the two gives to their score."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inspector.explain import Explanation
from inspector.plots import theme
from inspector.plots.theme import Mode

_FAINT = 0.45  # opacity of the products that are not needed to reach most of the dot product


def vectors(cell: Explanation, *, largest_first: bool = False, mode: Mode = "light") -> go.Figure:
    """Three rows of bars over the E dimensions of the head: q, k, and the product that each dimension adds.

    Products above zero are indigo, those below amber; those that together reach 80 % of the dot product are in full
    colour. largest_first: dimensions by the size of their product, not by number. Raises ValueError where the vectors
    are not known.
    """
    width = len(cell.products)
    if not width:
        raise ValueError("this attention was seen as scores alone, so there are no vectors to draw")
    order = np.argsort(-np.abs(cell.products), kind="stable") if largest_first else np.arange(width)
    names = [str(dimension) for dimension in order]
    ends = theme.DIVERGING[mode]
    faint = np.where(np.isin(order, cell.carriers()), 1.0, _FAINT)
    part = theme.PART[mode]
    rows = (
        ("q", cell.q, part["q"], 1.0),
        ("k", cell.k, part["k"], 1.0),
        ("product", cell.products, np.where(cell.products[order] > 0, ends[-2], ends[1]), faint),
    )
    figure = make_subplots(rows=3, shared_xaxes=True, vertical_spacing=0.06)
    for row, (name, values, colour, opacity) in enumerate(rows, start=1):
        figure.add_bar(
            x=names,
            y=values[order],
            marker={"color": colour, "opacity": opacity, "line": {"width": 0}},
            hovertemplate=f"dimension %{{x}}<br>{name} %{{y:.9~g}}<extra></extra>",
            row=row,
            col=1,
        )
        figure.update_yaxes(title_text=name, zeroline=True, zerolinecolor=theme.MUTED[mode], nticks=4, row=row, col=1)
    figure.update_xaxes(type="category", showgrid=False, ticks="", showticklabels=False)
    title = "dimension of the head, largest product first" if largest_first else "dimension of the head"
    step = -(-width // 32)
    figure.update_xaxes(
        title_text=title, showticklabels=True, tickangle=0, tickvals=names[::step], ticktext=names[::step], row=3, col=1
    )
    figure.update_layout(
        template=theme.template(mode), height=380, bargap=0.15, showlegend=False, margin={"t": 12}, hovermode="x"
    )
    return figure
