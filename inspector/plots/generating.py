"""Writing token by token as figures: what could come next, what the newest token attended to, what the cache saves."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from inspector.generating import WrittenToken
from inspector.generating.writing import TokenCandidate
from inspector.plots import theme
from inspector.plots.chart import Chart
from inspector.plots.theme import Mode
from inspector.text import number, quantity, token_name

Amount = Literal["flops", "total"]

_FADED = 0.4  # opacity of what was not chosen


def candidates(step: WrittenToken, *, top: float = 1.0, mode: Mode = "light") -> go.Figure:
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
            text=[f"{number(candidate.probability)} {_told_apart(candidate, shown)}" for candidate in shown],
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
    end = 1.45 * top  # room for the numbers behind the bars; no probability is over 1, and no tick
    ticks = {"tickvals": [0, 0.25, 0.5, 0.75, 1]} if end > 1 else {"nticks": 5}
    axis = theme.token_axis([candidate.token for candidate in shown], title="")
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": "What could come next"},
        xaxis={"title": {"text": "probability"}, "range": [0, end], "showline": False, **ticks},
        yaxis={**axis, "autorange": "reversed", "ticklabelstandoff": 4},
        showlegend=step.chosen.drawn is not None,
        legend={**theme.LEGEND_BELOW, "y": -0.4},
        height=250 if step.chosen.drawn is None else 290,
    )


def _told_apart(candidate: TokenCandidate, shown: Sequence[TokenCandidate]) -> str:
    """Return what tells a candidate from others that look like it: a mark's name, or the id of two with one name."""
    name = token_name(candidate.token)
    if sum(other.token == candidate.token for other in shown) > 1:
        return f"id {candidate.id}"
    mark = name.lstrip("␣").removeprefix("##")
    if len(mark) != 1 or unicodedata.category(mark)[0] not in "PS":
        return ""
    return unicodedata.name(mark, "").lower()


def cache(table: pd.DataFrame) -> Chart:
    """Bytes in the KV cache after each step, as measured.

    table: columns step and cache_bytes.
    """
    chart = Chart(table, "step", "cache_bytes", "bars", parts={"cache_bytes": "k"}, x_title="step", y_title="bytes")
    return replace(chart, title="KV cache after each step, measured", y_format="~s", from_zero=True, height=340)


def flops(table: pd.DataFrame, *, amount: Amount = "flops") -> Chart:
    """FLOPs of each step, or all up to it ("total"), whose ends are written, with the cache and without.

    table: of `WrittenText.table`, or of `decoding_costs.by_step`.
    """
    rows = table.melt("step", [f"{amount}_uncached", f"{amount}_cached"], "way", "flops")
    ends = (rows["step"] == rows["step"].max()) & (amount == "total") & rows["flops"].notna()
    return Chart(
        rows.assign(told=rows["flops"].map(partial(quantity, unit="FLOPs")).where(ends, "")),
        "step",
        "flops",
        by="way",
        names={f"{amount}_uncached": "without the cache", f"{amount}_cached": "with the cache"},
        parts={f"{amount}_uncached": "muted", f"{amount}_cached": "primary"},
        styles={f"{amount}_uncached": 1},
        points_at="told",
        x_title="step",
        y_title="FLOPs",
        title="FLOPs of each step" if amount == "flops" else "FLOPs up to each step",
        y_format="~s",
        from_zero=True,
        below=True,
        height=340,
    )
