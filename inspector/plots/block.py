"""The inside of a block as figures: a token's way as the block is drawn, what each part adds, and the FFN's units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from inspector.block import LayerStep, Walk
from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import number, token_name

_LABELS = {"x": "x", "norm": "norm", "mix": "A v", "out": "W<sub>O</sub>", "sum": "+", "up": "up", "gate": "gate"}
_LABELS |= {"hidden": "act", "down": "down", "q": "q", "k": "k", "v": "v"}
_COLOURS = {"x": "residual", "sum": "residual", "norm": "norm", "mix": "mix", "out": "out", "hidden": "activation"}
_HALF = 0.42  # half a box along the way
_TALL = 0.34  # and across it


@dataclass(frozen=True)
class Box:
    """The place of a step in the drawing: along the way and across it; number: of the step."""

    number: int
    along: float
    across: float


def boxes(steps: Sequence[LayerStep]) -> list[Box]:
    """Lay the steps out: the residual stream is one straight line, each sublayer a branch beside it.

    A sublayer that reads the stream before the one ahead was added lies on the other side, below the first.
    """
    placed: list[Box] = []
    along, branch_starts, furthest = 0.0, 0.0, 0.0
    for at, step in enumerate(steps):
        if step.part == "":
            along = max(along, furthest) + (1 if at else 0)
            furthest = along
            branch_starts = along
            placed.append(Box(at, along, 0.0))
            continue
        before = steps[at - 1]
        side = -1.0 if step.beside else 1.0
        if step.beside and not before.beside:
            along = branch_starts
        if step.kind == "k" or step.kind == "v" or (step.kind == "up" and before.kind == "gate"):
            across = {"k": 2.0, "v": 3.0, "up": 2.0}[step.kind] * side
        else:
            along += 1
            across = side
        furthest = max(furthest, along)
        placed.append(Box(at, along, across))
    return placed


def way(walk: Walk, *, step: int, upright: bool = False, mode: Mode = "light") -> go.Figure:
    """Draw one token's way through a layer: the residual stream as a line, its sublayers as branches.

    step: the last step that is reached; what comes after is pale. upright: from top to bottom, for a narrow page.
    Each box has the length of the token's vector there.
    """
    placed = boxes(walk.steps)
    shapes: list[dict[str, Any]] = []  # given to the figure at once: added singly, each checks those before it anew
    labels: list[dict[str, Any]] = []
    ink, muted = theme.TEXT[mode], theme.MUTED[mode]

    def at(along: float, across: float) -> tuple[float, float]:
        return (across, -along) if upright else (along, across)

    def line(a: tuple[float, float], b: tuple[float, float], *, reached: bool) -> None:
        (x0, y0), (x1, y1) = at(*a), at(*b)
        colour = muted if reached else theme.GRID[mode]
        stroke = {"color": colour, "width": 2}
        shapes.append({"type": "line", "x0": x0, "y0": y0, "x1": x1, "y1": y1, "line": stroke, "layer": "below"})

    for (a, b), reached in _lines(walk.steps, placed, step=step):
        line(a, b, reached=reached)
    for box, one in zip(placed, walk.steps, strict=True):
        reached, now = box.number <= step, box.number == step
        colour = theme.PART[mode].get(_COLOURS.get(one.kind, one.kind), muted)
        along, across = (_TALL, _HALF) if upright else (_HALF, _TALL)
        x, y = at(box.along, box.across)
        corners = {"x0": x - along, "x1": x + along, "y0": y - across, "y1": y + across}
        if upright:
            corners = {"x0": x - 0.46, "x1": x + 0.46, "y0": y - 0.36, "y1": y + 0.36}
        border = {"color": colour if reached else theme.GRID[mode], "width": 4 if now else 1.5}
        shapes.append({"type": "rect", **corners, "fillcolor": theme.BACKGROUND[mode], "line": border})
        label = f"<b>{_LABELS[one.kind]}</b><br>{number(one.norm)}" if reached else _LABELS[one.kind]
        font = {"size": 12, "color": ink if reached else muted}
        labels.append({"x": x, "y": y, "text": label, "showarrow": False, "font": font})
    far = max(box.along for box in placed)
    up, down = max(box.across for box in placed), min(box.across for box in placed)
    wide, tall = ([down - 0.6, up + 0.6], [-far - 0.6, 0.6]) if upright else ([-0.6, far + 0.6], [down - 0.6, up + 0.6])
    return go.Figure().update_layout(
        template=theme.template(mode),
        shapes=shapes,
        annotations=labels,
        title_text=f"{theme.literal(token_name(walk.token))} through layer {walk.layer}",
        xaxis={"visible": False, "range": wide, "fixedrange": True},
        yaxis={"visible": False, "range": tall, "fixedrange": True},
        height=round(70 + (48 * (far + 1.2) if upright else 62 * (up - down + 1.2))),
        margin={"l": 4, "r": 4, "t": 56, "b": 8},
    )


_Line = tuple[tuple[tuple[float, float], tuple[float, float]], bool]


def _lines(steps: Sequence[LayerStep], placed: Sequence[Box], *, step: int) -> list[_Line]:
    """List where lines run, and whether the walk has come so far: along the stream, out into each branch and back."""
    found: list[_Line] = []
    stream = [box for box, one in zip(placed, steps, strict=True) if one.part == ""]
    for a, b in pairwise(stream):
        found.append((((a.along, 0.0), (b.along, 0.0)), b.number <= step))
        inside = [box for box in placed if a.number < box.number < b.number]
        for side in (1.0, -1.0):
            own = [box for box in inside if box.across * side > 0]
            if not own:
                continue
            columns = sorted({box.along for box in own})
            reached = own[0].number <= step
            found.append((((a.along, 0.0), (a.along, side)), reached))
            for box in (box for box in own if box.along == columns[0]):
                found.append((((a.along, side), (a.along, box.across)), box.number <= step))
                found.append((((a.along, box.across), (box.along, box.across)), box.number <= step))
            for left, right in pairwise(columns):
                starts = [box for box in own if box.along == left]
                ends = [box for box in own if box.along == right]
                for start in starts:
                    for end in ends:
                        there, corner = end.number <= step, (end.along, start.across)
                        found.append((((start.along, start.across), corner), there))
                        found.append(((corner, (end.along, end.across)), there))
            ended = own[-1].number <= step and b.number <= step
            found.append((((columns[-1], side), (b.along, side)), ended))
            found.append((((b.along, side), (b.along, 0.0)), ended))
    return found


def activation(
    counts: NDArray[np.int64],
    edges: NDArray[np.float64],
    curves: Mapping[str, NDArray[np.float64]],
    *,
    own: str,
    pairs: int,
    mode: Mode = "light",
) -> go.Figure:
    """Draw how often each pre-activation occurs, and activation functions over them.

    own: the model's, drawn solid. pairs: of how many pre-activations the counts are.
    """
    middle = (edges[1:] + edges[:-1]) / 2
    figure = go.Figure(
        go.Bar(
            x=middle,
            y=counts / pairs,
            width=np.diff(edges),
            marker_color=theme.PART[mode]["ffn"],
            opacity=0.55,
            name="this text",
            yaxis="y2",
            hovertemplate="pre-activation %{x:.3g}<br>%{y:.2%} of them<extra></extra>",
        )
    )
    dashes = iter(("dot", "dash", "dashdot", "longdash"))
    for name, values in curves.items():
        figure.add_scatter(
            x=edges,
            y=values,
            mode="lines",
            name=name,
            line={
                "color": theme.TEXT[mode] if name == own else theme.MUTED[mode],
                "width": 3 if name == own else 1.5,
                "dash": "solid" if name == own else next(dashes),
            },
            hovertemplate=f"{name}(%{{x:.3g}}) = %{{y:.3g}}<extra></extra>",
        )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="The activation function, and this text's numbers on it",
        xaxis={"title": {"text": "pre-activation"}},
        yaxis={"title": {"text": "activation"}, "zeroline": True, "zerolinecolor": theme.GRID[mode]},
        yaxis2={
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "title": {"text": "share of the pre-activations"},
            "tickformat": ".0%",
            "rangemode": "tozero",
            "tickmode": "auto",
            "nticks": 5,
        },
        legend=theme.LEGEND_ABOVE,
        height=380,
    )


def storages(table: pd.DataFrame, *, mode: Mode = "light") -> go.Figure:
    """Draw which matrix each layer used: a cell with a number of its storage; what is used twice is filled.

    table: of `sharing.storages`.
    """
    rows = list(dict.fromkeys(table["row"]))
    columns = list(dict.fromkeys(table["role"]))
    uses = table["storage"].value_counts()
    filled = np.full((len(rows), len(columns)), np.nan)
    words = np.full(filled.shape, "", dtype=object)
    hover = np.full(filled.shape, "", dtype=object)
    for one in table.itertuples():
        where = rows.index(one.row), columns.index(one.role)
        filled[where] = 1.0 if uses[one.storage] > 1 else 0.0
        words[where], hover[where] = str(one.storage), theme.literal(one.name)
    stops = theme.SEQUENTIAL[mode]
    figure = go.Figure(
        go.Heatmap(
            z=filled,
            x=columns,
            y=rows,
            text=words,
            texttemplate="%{text}" if len(rows) <= 40 else "",
            customdata=hover,
            colorscale=[[0, stops[1]], [1, stops[4]]],
            zmin=0,
            zmax=1,
            showscale=False,
            xgap=2,
            ygap=2,
            hovertemplate="%{y}, %{x}<br>storage %{text}<br>%{customdata}<extra></extra>",
        )
    )
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": "Which tensors are one", "subtitle": {"text": "equal numbers: one storage; dark: used twice"}},
        xaxis={"type": "category", "showgrid": False, "side": "top"},
        yaxis={"type": "category", "autorange": "reversed", "showgrid": False},
        margin={"t": 96},
        height=min(140 + 30 * len(rows), 900),
    )
