"""Costs of sparse masks by the length of the text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode

Quantity = Literal["cells", "pairs", "flops"]
_TITLES: dict[Quantity, str] = {
    "cells": "cells of a map",
    "pairs": "FLOPs of scores and mix, one layer",
    "flops": "FLOPs of one layer",
}


def growth(
    table: pd.DataFrame,
    *,
    names: Mapping[str, str],
    chosen: str,
    quantity: Quantity,
    here: int,
    most: int | None = None,
    mode: Mode = "light",
) -> go.Figure:
    """Draw what each pattern costs by length on log axes, the chosen one thick; table: of `long_texts.growth`.

    names: of the patterns, "full" among them. here: the length in the picture above, marked on the chosen line. most:
    the longest text that the model reads, a line across; None for none.
    """
    figure = go.Figure()
    colours = dict(zip([name for name in names if name != "full"], theme.HEADS[mode], strict=False))
    for name, rows in table.groupby("pattern", sort=False):
        key = str(name)
        figure.add_scatter(
            x=rows["tokens"],
            y=rows[quantity],
            name=names[key],
            mode="lines",
            line={
                "color": colours.get(key, theme.MUTED[mode]),
                "width": 4 if key == chosen else 1.8,
                "dash": "dash" if key == "full" else "solid",
            },
            customdata=rows["share"],
            hovertemplate=(
                f"{names[key]}<br>%{{x:,}} tokens<br>{_TITLES[quantity]} %{{y:.3s}}<br>"
                "share of n² %{customdata:.3~g}<extra></extra>"
            ),
        )
    at = table[(table["pattern"] == chosen) & (table["tokens"] == here)]
    figure.add_scatter(
        x=at["tokens"],
        y=at[quantity],
        mode="markers",
        marker={"size": 10, "color": colours.get(chosen, theme.MUTED[mode])},
        showlegend=False,
        hoverinfo="skip",
    )
    if most is not None:
        figure.add_vline(
            x=most,
            line={"color": theme.MUTED[mode], "width": 1.5, "dash": "dot"},
        )
        figure.add_annotation(
            x=math.log10(most),  # as plotly reads it on a log axis
            y=0.02,
            yref="paper",
            text=f"the model reads {most:,}",
            font={"size": 12, "color": theme.TEXT[mode]},
            showarrow=False,
            xanchor="left",
            yanchor="bottom",
            xshift=4,
        )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="Cost by length",
        xaxis={"type": "log", "title": {"text": "tokens (n)"}, "dtick": 1, "tickformat": ",d"},
        yaxis={"type": "log", "title": {"text": _TITLES[quantity]}, "dtick": 1, "exponentformat": "power"},
        legend=theme.LEGEND_BELOW,
        height=430,
    )
