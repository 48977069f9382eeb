"""Kept cuts as a small graph: writers and readers by layer, an edge for each cut with what it took."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import plotly.graph_objects as go

from inspector.patching.notation import write
from inspector.patching.scissors import Cut, EdgeCut
from inspector.patching.writes import read_by, written_by
from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import signed

_THINNEST, _WIDEST = 1.5, 7.0  # pixels of an edge: of no effect, of the largest

Node = tuple[float, str]
"""The layer at whose height a writer or a reader stands, and its name."""


def cuts(cuts: Sequence[Cut], effects: Sequence[float], *, layers: int, mode: Mode = "light") -> go.Figure:
    """Draw each cut as an edge from what writes to what reads, as wide as its effect is large, dashed below 0.

    layers: of the stream; the embedding stands below the first, the logit above the last. Raises ValueError for no cut
    and where there are not as many effects.
    """
    if not cuts or len(cuts) != len(effects):
        raise ValueError(f"{len(cuts)} cuts and {len(effects)} effects; give one for each cut, and one cut at least")
    ends = [_ends(one, layers) for one in cuts]
    places = _places(sorted({end for pair in ends for end in pair}))
    largest = max(max(map(abs, effects)), 1e-30)
    figure = go.Figure()
    for one, (writer, reader), effect in zip(cuts, ends, effects, strict=True):
        (x, y), (to_x, to_y) = places[writer], places[reader]
        width = _THINNEST + (_WIDEST - _THINNEST) * abs(effect) / largest
        line = {"color": theme.PART[mode]["attention"], "width": width, "dash": "dash" if effect < 0 else "solid"}
        told = theme.literal(write(one))
        figure.add_scatter(
            x=[x, (x + to_x) / 2, to_x],
            y=[y, (y + to_y) / 2, to_y],
            mode="lines+text",
            line=line,
            text=["", signed(effect), ""],
            textposition="middle right",
            textfont={"color": theme.TEXT[mode], "size": 13},
            hovertemplate=f"{told}<br>effect {signed(effect)}<extra></extra>",
            showlegend=False,
        )
    figure.add_scatter(
        x=[place[0] for place in places.values()],
        y=[place[1] for place in places.values()],
        mode="markers+text",
        marker={"size": 12, "color": theme.BACKGROUND[mode], "line": {"color": theme.TEXT[mode], "width": 1.5}},
        text=[name for _, name in places],
        textposition="bottom center",
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
        height=260 + 46 * len(heights),
    )
    return figure


def _ends(one: Cut, layers: int) -> tuple[Node, Node]:
    if isinstance(one, EdgeCut):
        writer, reader = one.writer, one.reader
        begins = -1 if writer.layer is None else writer.layer
        name = written_by(writer)
        return (begins, name), (layers if reader.layer < 0 else reader.layer - 0.25, read_by(reader))
    return (one.head.layer, write(one).partition(" ->")[0].partition(" without")[0]), (
        layers,
        write(one).split(" ", 2)[2],
    )


def _places(nodes: Sequence[Node]) -> dict[Node, tuple[float, float]]:
    """Place nodes of one height beside each other: (x, y) of each."""
    places = {}
    for height, group in groupby(nodes, key=lambda node: node[0]):
        row = list(group)
        for number, node in enumerate(row):
            places[node] = ((number + 0.5) / len(row), float(height))
    return places


def _height(height: float, layers: int) -> str:
    if height < 0 and height != -0.25:
        return "embedding"
    return "end" if height == layers else f"{round(height + 0.01)}" if height == int(height) else ""
