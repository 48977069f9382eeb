"""Old keys as a figure: how far they move when a text grows, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from inspector.plots import theme
from inspector.plots.theme import Mode

_DASHES = ("solid", "dash", "dot")
_SYMBOLS = {"key": "circle", "value": "diamond"}


def moved(tables: Mapping[str, pd.DataFrame], *, mode: Mode = "light") -> go.Figure:
    """Draw the relative change of keys and values by layer, a line style for each name.

    tables: rows of one stream each of `stepwise.old_keys`, by name: the model, or the model under another mask.
    """
    figure, part = go.Figure(), theme.PART[mode]
    for (name, table), dash in zip(tables.items(), _DASHES, strict=False):
        for tensor, rows in table.groupby("tensor", sort=False):
            figure.add_scatter(
                x=rows["layer"],
                y=100 * rows["relative"],
                name=f"{tensor}s, {theme.literal(name)}",
                mode="lines+markers",
                line={"color": part["q" if tensor == "key" else "out"], "dash": dash, "width": 2},
                marker={"symbol": _SYMBOLS[str(tensor)], "size": 8},
                customdata=rows["largest"],
                hovertemplate="layer %{x}<br>%{y:.3~g} % of its length, mean<br>largest difference of a number "
                f"%{{customdata:.3~g}}<extra>{tensor}s, {theme.literal(name)}</extra>",
            )
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": "Change of the old tokens' keys and values"},
        xaxis={"title": {"text": "layer"}, "dtick": 1, "tickformat": "d"},
        yaxis={"title": {"text": "change (% of the length)"}, "rangemode": "tozero", "nticks": 6},
        legend={**theme.LEGEND_BELOW, "y": -0.24},
        height=360,
    )
