"""The heads as points of a plane, near where they are alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from inspector.head_distances import HeadDistances, plane
from inspector.plots import theme
from inspector.plots.theme import Mode
from models.formatting import layer_name

# Labels of heads.label in the order of the legend; shapes differ too, so that colour is never alone.
MARKS = ("circle", "square", "diamond", "cross", "triangle-up", "star", "hexagon", "x", "pentagon")
HUES: dict[Mode, tuple[str, ...]] = {
    "light": ("#4a3fc5", "#cf7c00", "#05837e", "#d5305f", "#9f3ebb", "#70717a", "#8a5a2b", "#1f77b4", "#2b1c87"),
    "dark": ("#9d95ff", "#df911a", "#30c6bf", "#f97f95", "#d58deb", "#9c9ea8", "#c79a6b", "#7fb8e8", "#cfd4fe"),
}


def map_of_heads(
    distances: HeadDistances, labels: Sequence[str], *, opened: Sequence[int] = (), mode: Mode = "light"
) -> tuple[go.Figure, float]:
    """A point for each head, near what is like it (Clark et al. 2019, figure 6), and the share of the plane.

    labels: what each head mostly does, in the order of distances.heads. opened: places of heads that get a ring.
    customdata of a point is its layer, head, call and name. The share is that of head_distances.plane.
    """
    points, share = plane(distances.values)
    heads = [[layer, head, call, f"{layer_name(layer, call)}, head {head}"] for layer, head, call in distances.places]
    figure = go.Figure()
    for place, label in enumerate(sorted(set(labels))):
        own = np.array(labels) == label
        figure.add_scatter(
            x=points[own, 0],
            y=points[own, 1],
            mode="markers",
            name=theme.literal(label),
            customdata=[head for head, here in zip(heads, own, strict=True) if here],
            marker={
                "size": 11,
                "symbol": MARKS[place % len(MARKS)],
                "color": HUES[mode][place % len(MARKS)],
                "line": {"width": 1, "color": theme.BACKGROUND[mode]},
            },
            hovertemplate=f"%{{customdata[3]}}<br>{theme.literal(label)}<extra></extra>",
        )
    ringed = list(dict.fromkeys(opened))
    figure.add_scatter(
        x=points[ringed, 0],
        y=points[ringed, 1],
        mode="markers",
        name="open",
        hoverinfo="skip",
        marker={"size": 19, "symbol": "circle-open", "color": theme.TEXT[mode], "line": {"width": 2}},
    )
    axis = {"title": {"text": "nats"}, "zeroline": False}
    figure.update_layout(
        template=theme.template(mode),
        xaxis=axis,
        yaxis={**axis, "scaleanchor": "x"},
        title_text="Heads that attend alike stand near each other",
        height=566,
        margin={"l": 50, "r": 10, "b": 40},
        legend={"orientation": "h", "y": -0.16, "x": 0},
        clickmode="event+select",
    )
    return figure, share
