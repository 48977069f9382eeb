"""Attention maps as plotly figures: one head, the mean over a layer's heads, the difference of two maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from inspector.plots import theme
from inspector.plots.theme import Mode, Scale
from inspector.text import LONGEST_TOKEN, token_name
from inspector.trace import Trace
from models.formatting import layer_name

Weights = NDArray[np.floating[Any]]

_SIDE = 560  # pixels of a map's longer side, where its cells are not already as large as is good
_CELL = 36


def heatmap(
    trace: Trace,
    *,
    layer: int,
    head: int | None,
    stream: str | None = None,
    call: int = 0,
    mode: Mode = "light",
    scale: Scale = "linear",
) -> go.Figure:
    """The attention weights [Q, T] of one head, or with head=None their mean over the layer's heads.

    Query 0 is on top; a row shows what its query attends to and sums to 1. Colour goes from 0 (the background) to the
    map's largest weight; hovering gives query, key and the weight to all its float32 digits.
    scale="sqrt" gives small weights more of the colours (the [CLS] and [SEP] columns outshine the rest); the numbers
    stay the weights. Raises ValueError for a layer, head, stream or call that the trace does not have.
    """
    weights, queries, keys = chosen(trace, layer=layer, head=head, stream=stream, call=call)
    name = title(layer, head, stream, call=call)
    return figure(weights, queries=queries, keys=keys, title=name, mode=mode, scale=scale)


def figure(
    weights: Weights,
    *,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    mode: Mode = "light",
    scale: Scale = "linear",
    top: float | None = None,
) -> go.Figure:
    """Any weights [Q, T] with their token labels, drawn as `heatmap` does: for maps that were arranged or averaged.

    top: the weight that gets the last colour; the largest where None. One top for several maps makes them comparable.
    """
    check_labels(weights, queries, keys)
    top = float(weights.max()) if top is None else top
    colours = {
        "colorscale": (theme.plotly_scale if scale == "linear" else theme.root_scale)(theme.SEQUENTIAL[mode]),
        "zmin": 0.0,
        "zmax": top if top > 0 else 1.0,
        "colorbar": {
            **theme.colour_bar(mode, "weight"),
            "tickformat": ".3~g",
        },
        "hovertemplate": "query %{y}<br>key %{x}<br>weight %{z:.9~g}<extra></extra>",
    }
    return _map(weights, queries=queries, keys=keys, title=title, mode=mode, colours=colours)


def chosen(
    trace: Trace, *, layer: int, head: int | None, stream: str | None, call: int = 0
) -> tuple[Weights, tuple[str, ...], tuple[str, ...]]:
    """Weights [Q, T] of a head (head=None: the mean over the layer's heads), with its query and key tokens."""
    if head is None:
        site = trace.record_of(layer, stream, call=call).site
        return mean_over_heads(trace, layer=layer, stream=stream, call=call), site.queries, site.keys
    site = trace.record_of_head(layer, head, stream, call=call).site  # refuses -1, which a title would repeat
    return trace.attention(layer=layer, head=head, stream=stream, call=call), site.queries, site.keys


def mean_over_heads(trace: Trace, *, layer: int, stream: str | None = None, call: int = 0) -> NDArray[np.float32]:
    """Mean of a layer's heads, float32 [Q, T], block by block of query rows; rows sum to 1 as the heads' own do."""
    blocks = [block.mean(axis=0) for _, block in trace.blocks(layer=layer, stream=stream, call=call)]
    return np.concatenate(blocks)


def title(layer: int, head: int | None, stream: str | None = None, *, call: int = 0) -> str:
    """Write a map's title: "Layer 3, head 7"."""
    where = f"{layer_name(layer, call).capitalize()}, {'mean over heads' if head is None else f'head {head}'}"
    return where if stream is None else f"{stream.capitalize()}, {where[0].lower()}{where[1:]}"


def check_labels(weights: Weights, queries: Sequence[str], keys: Sequence[str]) -> None:
    """Raise ValueError where a map [Q, T] has not Q queries and T keys."""
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(
            f"weights of shape {weights.shape} do not fit {len(queries)} queries and {len(keys)} keys; "
            "give one map [Q, T] with a token for each row and column"
        )


def _map(
    values: Weights,
    *,
    queries: Sequence[str],
    keys: Sequence[str],
    title: str,
    mode: Mode,
    colours: dict[str, Any],
) -> go.Figure:
    """Square cells in a frame, sized so that the labels and the colour bar fit beside them."""
    cell = min(_CELL, _SIDE / max(len(queries), len(keys)))
    gap = 1 if cell >= 12 else 0
    letters = [min(max(len(token_name(token)) for token in tokens), LONGEST_TOKEN) for tokens in (queries, keys)]
    drawn = go.Heatmap(z=values, x=theme.token_names(keys), y=theme.token_names(queries), xgap=gap, ygap=gap, **colours)
    frame = {"mirror": True, "linecolor": theme.MUTED[mode]}
    return go.Figure(
        drawn,
        layout={
            "template": theme.template(mode),
            "title": {"text": theme.literal(title)},
            "xaxis": {**theme.token_axis(keys, title="key"), **frame, "tickangle": -90, "constrain": "domain"},
            "yaxis": {
                **theme.token_axis(queries, title="query"),
                **frame,
                "autorange": "reversed",
                "scaleanchor": "x",
                "constrain": "domain",
            },
            "width": round(max(cell * len(keys), 120) + 7.5 * letters[0] + 190),
            "height": round(max(cell * len(queries), 120) + 7.5 * letters[1] + 130),
        },
    )
