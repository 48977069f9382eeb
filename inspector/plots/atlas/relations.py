"""The relations that a head finds beside the best fixed offset, as a figure."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode

MOST = 12
"""Rows that a figure shows."""


def arrow(relation: str, direction: str) -> str:
    """Write a relation and direction as an arrow from query to key: "obj → governor", "governor → obj"."""
    return f"{relation} → governor" if direction == "governor" else f"governor → {relation}"


def beside_offsets(rows: pd.DataFrame, *, title: str, mode: Mode = "light") -> go.Figure:
    """Draw the head's share and the best offset's for each relation, with intervals of 95 %; the largest gain on top.

    rows: of `head_relations.better_than_offsets`; the first MOST are drawn. Raises ValueError where there is none.
    """
    if rows.empty:
        raise ValueError("the head beats the best fixed offset on no relation")
    shown = rows.head(MOST)
    names = [
        theme.literal(arrow(relation, direction))
        for relation, direction in zip(shown["relation"], shown["direction"], strict=True)
    ]
    part = theme.PART[mode]
    figure = go.Figure()
    figure.add_scatter(
        **_series(shown, names, before="baseline_", colour=part["residual"], symbol="diamond"),
        name="best fixed offset",
        customdata=[
            [f"{offset:+d}", int(correct), int(total)]
            for offset, correct, total in shown[["baseline_offset", "baseline_correct", "total"]].itertuples(
                index=False
            )
        ],
        hovertemplate="the word at offset %{customdata[0]}<br>%{x:.1%}: %{customdata[1]:,} of %{customdata[2]:,}"
        "<extra></extra>",
    )
    figure.add_scatter(
        **_series(shown, names, before="", colour=part["attention"], symbol="circle"),
        name="this head",
        customdata=shown[["correct", "total"]].to_numpy(),
        hovertemplate="this head, %{y}<br>%{x:.1%}: %{customdata[0]:,} of %{customdata[1]:,}<extra></extra>",
    )
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": title, "subtitle": {"text": "lines: intervals of 95 %"}},
        xaxis={"title": {"text": "governors found"}, "tickformat": ".0%", "range": [0, 1.02], "nticks": 6},
        yaxis={"autorange": "reversed", "showgrid": True, "ticks": "", "tickfont": {"size": 13}},
        legend={**theme.LEGEND_ABOVE, "traceorder": "reversed"},
        margin={"t": 76},
        height=150 + 30 * len(shown),
    )


def _series(rows: pd.DataFrame, names: list[str], *, before: str, colour: str, symbol: str) -> dict[str, Any]:
    share, low, high = (rows[f"{before}{name}"].to_numpy() for name in ("share", "low", "high"))
    return {
        "x": share,
        "y": names,
        "mode": "markers",
        "marker": {"color": colour, "size": 10, "symbol": symbol},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": high - share,
            "arrayminus": share - low,
            "color": colour,
            "thickness": 2,
            "width": 4,
        },
    }
