"""A batch as figures: what a mask leaves on padding, and what each layout computes or takes."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.interventions import moved
from inspector.plots.theme import Mode

_PATTERNS = {"float32": "", "bfloat16": "/", "float16": "x"}
_SHADES = {"float32": "q", "bfloat16": "scores", "float16": "out"}


def leaks(table: pd.DataFrame, *, names: Mapping[str, str], where: str, mode: Mode = "light") -> go.Figure:
    """Draw the weight that each fill leaves, a group of bars per fill with a bar per dtype; table: of `batches.leaks`.

    names: of the fills; where: what the weight lies on. A bar that cannot be is named at its place: NaN, or an error.
    """
    figure, part = go.Figure(), theme.PART[mode]
    fills = list(dict.fromkeys(table["fill"]))
    for dtype, rows in table.groupby("dtype", sort=False):
        by_fill = rows.set_index("fill").loc[fills]
        told = [
            theme.number(leak) if not problem else problem.split(":")[0]
            for leak, problem in zip(by_fill["leak"], by_fill["problem"], strict=True)
        ]
        figure.add_bar(
            y=[names[fill] for fill in fills],
            x=by_fill["leak"].fillna(0),
            name=str(dtype),
            orientation="h",
            marker={"color": part[_SHADES[str(dtype)]], "pattern": {"shape": _PATTERNS[str(dtype)]}},
            text=told,
            textposition="outside",
            textfont={"size": 12},
            cliponaxis=False,
            customdata=told,
            hovertemplate=f"%{{y}} in {dtype}<br>weight on {where} %{{customdata}}<extra></extra>",
        )
    largest = float(table["leak"].max(skipna=True))
    return figure.update_layout(
        template=theme.template(mode),
        title_text=f"Weight on {where} by fill",
        barmode="group",
        bargap=0.25,
        xaxis={
            "title": {"text": f"weight on {where}, mean over queries"},
            "range": [0, max(largest, 1e-3) * 1.02],
            "tickformat": ".3~g",
            "nticks": 5,
        },
        yaxis={"autorange": "reversed", "showgrid": False, "ticks": "", "tickfont": {"size": 13}},
        legend={**theme.LEGEND_ABOVE, "traceorder": "normal"},
        margin={"t": 76, "r": 84},
        height=150 + 54 * len(fills),
    )


def spread(table: pd.DataFrame, *, changed: int, mode: Mode = "light") -> go.Figure:
    """Draw how far each token's state moves, the changed token in rose; table: of `batches.spread`."""
    return moved(
        table["change"].to_numpy(),
        tokens=list(table["token"]),
        masked={changed},
        names=("other tokens", "the changed token"),
        title="One token changed",
        quantity="mean |change| of a number",
        mode=mode,
    )


def layouts(values: Mapping[str, float], *, quantity: str, title: str, mode: Mode = "light") -> go.Figure:
    """Draw one number for each layout as bars, the first on top; quantity: its name and unit."""
    bars = go.Bar(
        y=list(values),
        x=list(values.values()),
        orientation="h",
        marker={"color": theme.PART[mode]["attention"]},
        text=[theme.number(value) for value in values.values()],
        textposition="outside",
        cliponaxis=False,
        hovertemplate=f"%{{y}}<br>{quantity} %{{x:.3~g}}<extra></extra>",
    )
    layout = {
        "template": theme.template(mode),
        "title": {"text": title},
        "xaxis": {"title": {"text": quantity}, "rangemode": "tozero", "nticks": 5, "tickformat": ",.6~g"},
        "yaxis": {"autorange": "reversed", "showgrid": False, "ticks": "", "tickfont": {"size": 13}},
        "margin": {"r": 84},
        "bargap": 0.35,
        "height": 120 + 36 * len(values),
    }
    return go.Figure(bars, layout=layout)
