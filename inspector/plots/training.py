"""Figures of a training: learning rate, curves, heads at recorded moments, and how the matrices grew.

At the moments of a replay the axis is even: they lie close together in the first steps, where most of it happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inspector import text
from inspector.plots import theme
from inspector.plots.theme import Mode

Along = Literal["linear", "log"]

DECAY_DASH = {"linear": "dash", "cosine": "dot", "noam": "dashdot", "late": "longdash"}
MEASURES = {
    "entropy": "entropy (nats)",
    "self": "weight on the token itself",
    "previous": "weight on the token before",
    "next": "weight on the token after",
    "cls": "weight on [CLS]",
    "sep": "weight on [SEP]",
    "confidence": "largest weight of a row",
    "distance": "distance (tokens)",
    "information": "information (nats)",
}
"""A measure of heads.py and the title of its axis."""
NORM_DASH = {"q": "solid", "k": "dash", "v": "dot", "out": "dashdot", "up": "solid", "gate": "dot", "down": "dash"}
PART_NAMES = {"attention": "attention", "cross_attention": "cross-attention", "ffn": "FFN"}
PANEL = 150  # pixels of one small panel


def schedule(table: pd.DataFrame, *, decay: str, measured: pd.DataFrame, mode: Mode = "light") -> go.Figure:
    """The learning rate by step: the recipe's decay strong, the others thin, the rates that were measured as points.

    table: of `learning.schedules`. measured: of `learning.curves`, or empty.
    """
    others = [name for name in DECAY_DASH if name != decay]
    figure = go.Figure()
    for name in (*others, decay):
        own = name == decay
        figure.add_scatter(
            x=table["step"],
            y=table[name],
            name=f"{name}, used" if own else name,
            mode="lines",
            line={
                "color": theme.PRIMARY[mode] if own else theme.MUTED[mode],
                "dash": "solid" if own else DECAY_DASH[name],
                "width": 5 if own else 1,
            },
            opacity=0.5 if own else 1.0,
            hovertemplate=f"step %{{x:,d}}<br>{name} %{{y:.3g}}<extra></extra>",
        )
    figure.add_scatter(
        x=measured["step"],
        y=measured["learning_rate"],
        name="measured",
        mode="markers",
        marker={"size": 3, "color": theme.TEXT[mode]},
        hovertemplate="step %{x:,d}<br>measured %{y:.4g}<extra></extra>",
    )
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": "Learning rate by step", "subtitle": {"text": "thin: the same warm-up and peak, other decays"}},
        xaxis={"title": {"text": "step"}, "tickformat": ",d", "rangemode": "tozero"},
        yaxis={"title": {"text": "learning rate"}, "tickformat": ".2~g", "rangemode": "tozero"},
        legend=theme.LEGEND_BELOW,
        margin={"t": 76},
        height=380,
    )


def curves(
    table: pd.DataFrame,
    *,
    uniform: float | None,
    least: float,
    clip: float | None,
    step: int | None,
    along: Along = "linear",
    mode: Mode = "light",
) -> go.Figure:
    """Loss, valid accuracy and gradient norm by step, one above the other.

    table: of `learning.curves`. uniform: the loss of a guess that takes all tokens for equally likely; least: the least
    that the smoothed training loss can be, drawn where it is above 0; clip: the largest gradient norm that is let
    through; step: where the replay stands, marked by a line (on a logarithmic axis there is no step 0).
    """
    figure = make_subplots(rows=3, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.5, 0.25, 0.25])
    part = theme.PART[mode]
    valid = table.dropna(subset=["valid_loss"])
    lines: tuple[tuple[int, str, pd.DataFrame, str, dict[str, Any]], ...] = (
        (1, "training loss", table, "loss", {"color": part["residual"], "width": 1.5}),
        (1, "valid loss", valid, "valid_loss", {"color": part["prediction"], "width": 3}),
        (2, "valid accuracy", valid, "valid_accuracy", {"color": part["prediction"], "width": 3, "dash": "dash"}),
        (3, "gradient norm", table, "gradient_norm", {"color": part["residual"], "width": 1.5, "dash": "dot"}),
    )
    for row, name, rows, column, line in lines:
        figure.add_scatter(
            x=rows["step"],
            y=rows[column],
            row=row,
            col=1,
            name=name,
            mode="lines",
            line=line,
            hovertemplate=f"step %{{x:,d}}<br>{name} %{{y:.4g}}<extra></extra>",
        )
    if uniform is not None:
        _level(figure, uniform, f"uniform guess<br>ln V = {text.number(uniform)}", row=1, mode=mode)
    if least > 0:
        _level(figure, least, f"least with<br>smoothing: {text.number(least)}", row=1, mode=mode)
    if clip is not None:
        _level(figure, clip, f"clipped at {clip:g}", row=3, mode=mode)
    if step is not None and not (along == "log" and step == 0):
        for row in (1, 2, 3):
            figure.add_shape(**_line(step, mode), row=row, col=1)
    first, last = table["step"].min(), table["step"].max()
    shown = [0, 1.01 * last] if along == "linear" else [log10(first) - 0.05, log10(last) + 0.02]
    figure.update_xaxes(type=along, tickformat=",d", range=shown)
    if along == "log":
        figure.update_xaxes(dtick="D2")  # ticks at 1, 2 and 5 times a power of ten
    figure.update_xaxes(title_text="step", row=3, col=1)
    figure.update_yaxes(title_text="loss (nats a token)", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="accuracy", tickformat=".0%", rangemode="tozero", row=2, col=1)
    figure.update_yaxes(title_text="gradient norm", rangemode="tozero", row=3, col=1)
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Loss, accuracy and gradient by step",
        legend={**theme.LEGEND_BELOW, "y": -0.12},
        margin={"r": 104},  # for the labels of the levels
        height=600,
    )


def head_measures(
    table: pd.DataFrame, *, measure: str, layer: int, head: int, step: int, mode: Mode = "light"
) -> go.Figure:
    """Draw one measure of all heads of a layer at every moment, the open head strong, the chosen step marked.

    table: of `learning.measures`. Raises ValueError for a measure that means nothing there.
    """
    rows = table[table["layer"] == layer]
    if rows[measure].isna().all():
        raise ValueError(f"{measure} means nothing in the stream {rows['stream'].iloc[0]}")
    steps = sorted(rows["step"].unique())
    figure = go.Figure()
    numbers = sorted(rows["head"].unique())
    for number in sorted(numbers, key=lambda number: number == head):  # the open one last: on top
        own = number == head
        values = rows[rows["head"] == number].sort_values("step")
        figure.add_scatter(
            x=list(range(len(steps))),
            y=values[measure],
            customdata=values[["step", "label"]],
            name=f"head {number}",
            mode="lines+markers",
            line={"color": theme.PART[mode]["attention" if own else "residual"], "width": 3 if own else 1},
            marker={"size": 7 if own else 4},
            opacity=1.0 if own else 0.6,
            showlegend=False,
            hovertemplate=f"head {number}, step %{{customdata[0]:,d}}<br>{measure} %{{y:.3g}}<br>"
            "mostly %{customdata[1]}<extra></extra>",
        )
    figure.add_shape(**_line(steps.index(step), mode))
    return figure.update_layout(
        template=theme.template(mode),
        title={
            "text": f"The heads of layer {layer} as they learned",
            "subtitle": {"text": f"The strong line is head {head}; the moments stand evenly spaced"},
        },
        xaxis=_moments(steps),
        yaxis={"title": {"text": MEASURES[measure]}, "rangemode": "tozero"},
        margin={"t": 76},
        height=380,
    )


def norms(table: pd.DataFrame, *, stream: str, step: int, mode: Mode = "light") -> go.Figure:
    """Draw how much every matrix of a stream's layers grew, a panel per layer; the last panel has the other matrices.

    table: of `learning.norms`. 1 is the size at the start. A decoder's layers have two attentions: stream "cross" shows
    the one over the source.
    """
    stack = "encoder" if stream == "encoder" else "decoder"
    hidden = "attention" if stream == "cross" else "cross_attention"
    inside = table[(table["stack"] == stack) & table["layer"].notna() & (table["part"] != hidden)]
    outside = table[table["layer"].isna()]
    layers = sorted(inside["layer"].unique())
    panels = [(f"layer {layer}", inside[inside["layer"] == layer]) for layer in layers]
    if not outside.empty:
        panels.append(("outside the layers", outside))
    figure = make_subplots(
        rows=len(panels), shared_xaxes=True, vertical_spacing=0.25 / len(panels), subplot_titles=[n for n, _ in panels]
    )
    steps = sorted(table["step"].unique())
    named = set[str]()
    for row, (_, rows) in enumerate(panels, start=1):
        for (part, component), values in rows.groupby(["part", "component"], sort=False):
            name = f"{PART_NAMES.get(part, part)} {component}"
            _growth(figure, values, name, part, component, row=row, legend=name not in named, mode=mode)
            named.add(name)
        figure.add_shape(**_line(steps.index(step), mode), row=row, col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13, "color": theme.MUTED[mode]})
    figure.update_xaxes(**{key: value for key, value in _moments(steps).items() if key != "title"})
    figure.update_xaxes(title_text="step", row=len(panels), col=1)
    figure.update_yaxes(tickformat=".2~f")
    for row in range(2, len(layers) + 1):
        figure.update_yaxes(matches="y", row=row, col=1)  # layers are compared; an embedding may grow far more
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": "How the matrices grew", "subtitle": {"text": "L2 norm over the norm at the start, no unit"}},
        legend={**theme.LEGEND_BELOW, "y": -0.35 / len(panels)},
        margin={"t": 96},
        height=190 + PANEL * len(panels),
    )


def _growth(
    figure: go.Figure, rows: pd.DataFrame, name: str, part: str, component: str, *, row: int, legend: bool, mode: Mode
) -> None:
    """The line of one matrix."""
    colours = theme.PART[mode]
    part = "attention" if part == "cross_attention" else part
    rows = rows.sort_values("step")
    figure.add_scatter(
        x=list(range(len(rows))),
        y=rows["growth"],
        row=row,
        col=1,
        customdata=rows[["step", "norm"]],
        name=name,
        legendgroup=name,
        showlegend=legend,
        mode="lines",
        line={
            "color": colours.get(component, colours.get(part, colours["residual"])),
            "dash": NORM_DASH.get(component, "solid"),
            "width": 2,
        },
        hovertemplate=f"{name}, step %{{customdata[0]:,d}}<br>%{{y:.3g}} times the start, norm %{{customdata[1]:.3g}}"
        "<extra></extra>",
    )


def _moments(steps: Sequence[int]) -> dict[str, Any]:
    """An axis over the moments of a replay, evenly spaced and named by their steps."""
    return {
        "title": {"text": "step"},
        "tickvals": list(range(len(steps))),
        "ticktext": [f"{step:,}" for step in steps],
        "showgrid": False,
        "range": [-0.3, len(steps) - 0.7],
    }


def _line(at: float, mode: Mode) -> dict[str, Any]:
    """A vertical line where the replay stands."""
    return {
        "type": "line",
        **{"x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "y domain"},
        "line": {"color": theme.MUTED[mode], "dash": "dot", "width": 1.5},
    }


def _level(figure: go.Figure, at: float, label: str, *, row: int, mode: Mode) -> None:
    """A horizontal line with its label right of the plot, where no curve runs."""
    figure.add_hline(at, row=row, col=1, line={"color": theme.MUTED[mode], "dash": "dash", "width": 1})
    figure.add_annotation(
        x=1,
        xref="x domain",
        y=at,
        row=row,
        col=1,
        text=label,
        align="left",
        showarrow=False,
        xanchor="left",
        yanchor="middle",
        xshift=4,
        font={"size": 12, "color": theme.MUTED[mode]},
    )
