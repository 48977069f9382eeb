"""Writing token by token as figures: what could come next, what the newest token attended to, what the cache saves."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from inspector.generating import Step
from inspector.generating.writing import Candidate
from inspector.plots import theme
from inspector.plots.attention import Weights
from inspector.plots.theme import Mode

Amount = Literal["flops", "total"]

_ROW = 26  # pixels of a map's row, where there are few
_LARGEST = 560  # pixels of a map
_BARS = 110  # pixels of the newest row's bars
_ROOM = 150  # pixels for title and key labels
_FADED = 0.4  # opacity of what was not chosen


def candidates(step: Step, *, top: float = 1.0, mode: Mode = "light") -> go.Figure:
    """Bars of the likeliest next tokens, the chosen one in full colour; it stands last where it is not among them.

    top: the axis goes a little beyond it; one top for all steps makes them comparable.
    Where a token was drawn, a mark on each bar says the probability it was drawn by (temperature, top-k, top-p).
    """
    shown = list(step.candidates)
    if step.chosen not in shown:
        shown.append(step.chosen)
    names = theme.token_names([candidate.token for candidate in shown])
    colour = theme.PART[mode]["prediction"]
    figure = go.Figure(
        go.Bar(
            x=[candidate.probability for candidate in shown],
            y=names,
            orientation="h",
            marker={"color": colour, "opacity": [1.0 if c == step.chosen else _FADED for c in shown]},
            text=[f"{theme.number(candidate.probability)} {_told_apart(candidate, shown)}" for candidate in shown],
            textposition="outside",
            cliponaxis=False,
            customdata=[candidate.id for candidate in shown],
            hovertemplate="%{y}<br>id %{customdata}<br>probability %{x:.9~g}<extra></extra>",
            name="the model's probability",
        )
    )
    if step.chosen.drawn is not None:
        figure.add_scatter(
            x=[candidate.drawn for candidate in shown],
            y=names,
            mode="markers",
            marker={"symbol": "line-ns", "size": 20, "line": {"width": 3, "color": theme.TEXT[mode]}},
            hovertemplate="%{y}<br>drawn by %{x:.9~g}<extra></extra>",
            name="drawn by",
        )
    axis = theme.token_axis([candidate.token for candidate in shown], title="")
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": "What could come next"},
        xaxis={"title": {"text": "probability"}, "range": [0, 1.45 * top], "nticks": 5},
        yaxis={**axis, "autorange": "reversed", "ticklabelstandoff": 4},
        showlegend=step.chosen.drawn is not None,
        legend={**theme.LEGEND_BELOW, "y": -0.4},
        height=250 if step.chosen.drawn is None else 290,
    )


def _told_apart(candidate: Candidate, shown: Sequence[Candidate]) -> str:
    """Return what tells a candidate from others that look like it: a mark's name, or the id of two with one name."""
    name = theme.visible(candidate.token)
    if sum(other.token == candidate.token for other in shown) > 1:
        return f"id {candidate.id}"
    mark = name.lstrip("▁Ġ").removeprefix("##")
    if len(mark) != 1 or unicodedata.category(mark)[0] not in "PS":
        return ""
    return unicodedata.name(mark, "").lower()


def growing(
    weights: Weights,
    *,
    queries: Sequence[str],
    keys: Sequence[str],
    step: int,
    known: int,
    title: str,
    mode: Mode = "light",
) -> go.Figure:
    """The map up to the present step: the newest row as bars, and under them all rows so far, the newest framed.

    weights [N, T], a row for each step; queries and keys name them all, so that nothing moves as the map grows; step
    from 1; known: how many keys are there already, the others go without a name.
    """
    if not 1 <= step <= len(weights):
        raise ValueError(f"step {step} of a map with the steps 1 to {len(weights)}")
    names = theme.token_names(keys)
    rows = theme.token_names(queries)
    so_far = weights.astype(np.float64)
    so_far[step:] = np.nan
    so_far[:, known:] = np.nan
    newest = so_far[step - 1]
    top = float(weights.max()) or 1.0
    plot = min(_LARGEST, _ROW * len(rows))
    gap = 1 if plot >= 12 * len(rows) else 0
    figure = go.Figure(
        [
            go.Bar(
                x=names,
                y=newest,
                yaxis="y2",
                marker={"color": theme.PART[mode]["attention"]},
                hovertemplate="key %{x}<br>weight %{y:.9~g}<extra></extra>",
            ),
            go.Heatmap(
                z=so_far,
                x=names,
                y=rows,
                zmin=0.0,
                zmax=top,
                colorscale=theme.plotly_scale(theme.SEQUENTIAL[mode]),
                showscale=False,
                xgap=gap,
                ygap=gap,
                hoverongaps=False,
                hovertemplate="query %{y}<br>key %{x}<br>weight %{z:.9~g}<extra></extra>",
            ),
        ]
    )
    share = plot / (plot + _BARS)
    frame = {"mirror": True, "linecolor": theme.MUTED[mode]}
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": theme.literal(title)},
        showlegend=False,
        bargap=0.15,
        xaxis={**_until(theme.token_axis(keys, title="key"), known), **frame, "tickangle": -90},
        yaxis={
            **_until(theme.token_axis(queries, title="query"), step),
            **frame,
            "autorange": "reversed",
            "domain": [0, share - 0.03],
        },
        yaxis2={"domain": [share, 1], "range": [0, top * 1.05], "title": {"text": "weight"}, "nticks": 4},
        shapes=[
            {
                **{"type": "rect", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1},
                **{"y0": step - 1.5, "y1": step - 0.5, "line": {"width": 2, "color": theme.TEXT[mode]}},
            }
        ],
        height=plot + _BARS + _ROOM,
    )


def _until(axis: dict[str, Any], known: int) -> dict[str, Any]:
    """A token axis that names the first `known` tokens alone; the others keep their place."""
    names = [name if place < known else "" for place, name in zip(axis["tickvals"], axis["ticktext"], strict=True)]
    return {**axis, "ticktext": names}


def cache(table: pd.DataFrame, *, mode: Mode = "light") -> go.Figure:
    """Bytes in the KV cache after each step, as measured.

    table: columns step and cache_bytes.
    """
    return go.Figure(
        go.Bar(
            x=table["step"],
            y=table["cache_bytes"],
            marker={"color": theme.PART[mode]["k"]},
            hovertemplate="step %{x}<br>%{y:,} bytes<extra></extra>",
        ),
        layout=_by_step("KV cache after each step, measured", "bytes", mode=mode),
    )


def flops(table: pd.DataFrame, *, amount: Amount = "flops", mode: Mode = "light") -> go.Figure:
    """FLOPs of each step, or all up to it ("total"), with the cache and without.

    table: of `Written.table`, or of `decoding_costs.by_step`.
    """
    title = "FLOPs of each step" if amount == "flops" else "FLOPs up to each step"
    lines = [
        go.Scatter(
            x=table["step"],
            y=table[f"{amount}_{kind}"],
            name=name,
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 2},
            marker={"size": 5},
            hovertemplate=f"step %{{x}}<br>%{{y:,}} FLOPs {name}<extra></extra>",
        )
        for kind, name, colour, dash in (
            ("uncached", "without the cache", theme.MUTED[mode], "dash"),
            ("cached", "with the cache", theme.PRIMARY[mode], "solid"),
        )
    ]
    return go.Figure(lines, layout=_by_step(title, "FLOPs", mode=mode))


def _by_step(title: str, unit: str, *, mode: Mode) -> dict[str, Any]:
    return {
        "template": theme.template(mode),
        "title": {"text": title},
        "xaxis": {"title": {"text": "step"}, "showgrid": False, "tickformat": "d"},
        "yaxis": {"title": {"text": unit}, "tickformat": "~s", "rangemode": "tozero"},
        "legend": {**theme.LEGEND_BELOW, "y": -0.3},
        "height": 340,
    }
