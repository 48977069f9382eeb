"""Figures of a training: learning rate, curves, heads at recorded moments, and how the matrices grew.

At the moments of a replay the axis is even: they lie close together in the first steps, where most of it happens.
"""

from __future__ import annotations

from math import log10
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from inspector import text
from inspector.plots import theme
from inspector.plots.chart import Chart
from inspector.plots.theme import Mode

Along = Literal["linear", "log"]

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


def schedule(table: pd.DataFrame, *, decay: str, measured: pd.DataFrame) -> Chart:
    """The learning rate by step: the recipe's decay strong, the others thin, the rates that were measured as points.

    table: of `learning.schedules`. measured: of `learning.curves`, or empty.
    """
    others = [name for name in ("linear", "cosine", "noam", "late") if name != decay]
    rows = table.melt("step", [*others, decay], "decay", "rate")
    points = measured.assign(decay="measured", rate=measured["learning_rate"])[["step", "decay", "rate"]]
    every = pd.concat([rows, points])
    return Chart(
        every.assign(opacity=(every["decay"] == decay).map({True: 0.5, False: 1.0})),
        "step",
        "rate",
        "curves",
        by="decay",
        names={decay: f"{decay}, used"},
        parts={**dict.fromkeys(others, "muted"), decay: "primary", "measured": "text"},
        styles={name: at for at, name in enumerate(("linear", "cosine", "noam", "late"), start=1) if name != decay},
        marks={"measured": "points"},
        sizes={**dict.fromkeys(others, 1), decay: 5, "measured": 3},
        opacity="opacity",
        x_title="step",
        y_title="learning rate",
        title="Learning rate by step",
        subtitle="thin: the same warm-up and peak, other decays",
        x_format=",d",
        y_format=".2~g",
        from_zero=True,
        below=True,
        height=360,
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
    """Loss, valid accuracy and gradient norm by step, one above the other; the valid loss has its ends as numbers.

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
    ends = valid.iloc[[0, -1]] if len(valid) else valid
    figure.add_scatter(
        x=ends["step"],
        y=ends["valid_loss"],
        row=1,
        col=1,
        mode="markers+text",
        text=[text.number(loss) for loss in ends["valid_loss"]],
        textposition=["top right", "top left"],
        textfont={"size": 13, "color": theme.TEXT[mode]},
        marker={"color": theme.TEXT[mode], "size": 9},
        showlegend=False,
        hoverinfo="skip",
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


def head_measures(table: pd.DataFrame, *, measure: str, layer: int, head: int, step: int) -> Chart:
    """Draw one measure of all heads of a layer at every moment, the open head strong, the chosen step marked.

    table: of `learning.measures`. Raises ValueError for a measure that means nothing there.
    """
    rows = table[table["layer"] == layer]
    if rows[measure].isna().all():
        raise ValueError(f"{measure} means nothing in the stream {rows['stream'].iloc[0]}")
    steps = sorted(rows["step"].unique())
    own = rows["head"] == head
    rows = rows.assign(place=rows["step"].map(steps.index), open=own, opacity=own.map({True: 1.0, False: 0.6}))
    heads = sorted(rows["head"].unique())
    return Chart(
        rows.sort_values(["open", "head", "step"]),  # the open one last: on top
        "place",
        measure,
        by="head",
        names={number: f"head {number}" for number in heads},
        parts={number: "attention" if number == head else "residual" for number in heads},
        sizes={number: 3 if number == head else 1 for number in heads},
        opacity="opacity",
        hover={"label": "mostly"},
        listed=False,
        x_title="step",
        y_title=MEASURES[measure],
        title=f"The heads of layer {layer} as they learned",
        subtitle=f"The strong line is head {head}; the moments stand evenly spaced",
        x_marks={"": steps.index(step)},
        places=[f"{moment:,}" for moment in steps],
        x_range=(-0.3, len(steps) - 0.7),
        from_zero=True,
        height=360,
    )


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
