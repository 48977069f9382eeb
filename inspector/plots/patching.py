"""Kept cuts as a small graph: writers and readers by layer, an edge for each cut with what it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import signed

_THINNEST, _WIDEST = 1.5, 7.0  # pixels of an edge: of no effect, of the largest

Node = tuple[float, str]
"""The layer at whose height a writer or a reader stands, and its name."""


@dataclass(frozen=True)
class CutEdge:
    """A cut: what writes and what reads, each at a layer's height, the cut in words, and its effect."""

    writer: Node
    reader: Node
    name: str
    effect: float


def cuts(cuts: Sequence[CutEdge], *, layers: int, mode: Mode = "light") -> go.Figure:
    """Draw each cut as an edge from what writes to what reads, as wide as its effect is large, dashed below 0.

    layers: of the stream; the embedding stands below the first, the logit above the last. Raises ValueError for no cut.
    """
    if not cuts:
        raise ValueError("there is no cut to draw; give one at least")
    ends = [(one.writer, one.reader) for one in cuts]
    places = _places(ends)
    largest = max(*(abs(one.effect) for one in cuts), 1e-30)
    figure = go.Figure()
    for one in cuts:
        (x, y), (to_x, to_y), effect = places[one.writer], places[one.reader], one.effect
        width = _THINNEST + (_WIDEST - _THINNEST) * abs(effect) / largest
        line = {"color": theme.PART[mode]["attention"], "width": width, "dash": "dash" if effect < 0 else "solid"}
        figure.add_scatter(
            x=[x, (x + to_x) / 2, to_x],
            y=[y, (y + to_y) / 2, to_y],
            mode="lines+text",
            line=line,
            text=["", f"{signed(effect)}  ", ""],
            textposition="middle left",
            textfont={"color": theme.TEXT[mode], "size": 13},
            hovertemplate=f"{theme.literal(one.name)}<br>effect {signed(effect)}<extra></extra>",
            showlegend=False,
        )
    figure.add_scatter(
        x=[place[0] for place in places.values()],
        y=[place[1] for place in places.values()],
        mode="markers+text",
        marker={"size": 12, "color": theme.BACKGROUND[mode], "line": {"color": theme.TEXT[mode], "width": 1.5}},
        text=[f"  {name}" for _, name in places],
        textposition="middle right",
        textfont={"color": theme.TEXT[mode], "size": 13},
        hoverinfo="skip",
        showlegend=False,
    )
    heights = sorted({height for height, _ in places})
    figure.update_layout(
        template=theme.template(mode),
        title={"text": "Cuts that were kept"},
        xaxis={"visible": False, "range": [-0.15, 1.15]},
        yaxis={
            "title": {"text": "layer"},
            "tickmode": "array",
            "tickvals": heights,
            "ticktext": [_height(height, layers) for height in heights],
            "showgrid": False,
        },
        height=220 + 36 * len(heights),
    )
    return figure


def _places(ends: Sequence[tuple[Node, Node]]) -> dict[Node, tuple[float, float]]:
    """Place nodes (x, y): each cut has a column, and an end of several cuts stands in their middle."""
    columns: dict[Node, list[float]] = {}
    for number, pair in enumerate(ends):
        for node in pair:
            columns.setdefault(node, []).append((number + 0.5) / len(ends))
    return {node: (sum(xs) / len(xs), float(node[0])) for node, xs in columns.items()}


def _height(height: float, layers: int) -> str:
    if height < 0 and height != -0.25:
        return "embedding"
    return "end" if height == layers else f"{round(height + 0.01)}" if height == int(height) else ""
