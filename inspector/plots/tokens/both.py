"""Sentences by how much they are like the reader's text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from inspector.plots import theme
from inspector.plots.theme import Mode
from inspector.text import signed, visible

_LONGEST = 42  # characters of a sentence beside its bar


def similarities(sentences: Sequence[str], cosines: NDArray[np.float64], *, mode: Mode = "light") -> go.Figure:
    """Draw the cosine of each sentence with the text as bars, the nearest on top and solid."""
    order = np.argsort(-cosines, kind="stable")
    names = [visible(sentences[at]) for at in order]
    shown = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in names]
    values = cosines[order]
    bars = go.Bar(
        x=values,
        y=list(range(len(names))),
        orientation="h",
        marker={
            "color": theme.PART[mode]["attention"],
            "opacity": [1.0 if not at else 0.5 for at in range(len(names))],
        },
        text=[f"{theme.literal(name)}  {signed(value)}" for name, value in zip(shown, values, strict=True)],
        textposition="none",
        customdata=[theme.literal(name) for name in names],
        hovertemplate="%{customdata}<br>cosine %{x:.3~g}<extra></extra>",
    )
    figure = go.Figure(bars)
    for row, (name, value) in enumerate(zip(shown, values, strict=True)):
        figure.add_annotation(
            x=0,
            xref="paper",
            y=row - 0.43,
            text=f"{theme.literal(name)} <b>{signed(float(value))}</b>",
            showarrow=False,
            xanchor="left",
            yanchor="middle",
            font={"size": 13, "color": theme.TEXT[mode]},
        )
    return figure.update_layout(
        template=theme.template(mode),
        title_text="How alike each sentence is",
        xaxis={"title": {"text": "cosine with the text"}, "range": [min(0.0, float(values.min())), 1], "nticks": 6},
        yaxis={"range": [len(names) - 0.5, -0.75], "visible": False},
        bargap=0.62,
        margin={"l": 16, "t": 12},
        height=90 + 56 * len(names),
    )
