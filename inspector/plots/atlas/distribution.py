"""A measure of one head over all texts of an atlas as a figure."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from inspector.atlas.reading.distribution import MeasureDistribution
from inspector.plots import theme
from inspector.plots.atlas.units import even_ticks, root_ticks, written
from inspector.plots.theme import Mode

_TICKS = 4  # at least
_QUANTITY = {"share": "share", "nats": "nats", "tokens": "tokens"}


def histogram(found: MeasureDistribution, *, title: str, mode: Mode = "light") -> go.Figure:
    """Draw the share of the texts in each bin, with the mean and a band over the middle half of the texts.

    The axis is of square roots, as the bins are, so that all bars are equally wide. Raises ValueError where no text has
    the measure.
    """
    first, last = _span(found)
    unit = found.measure.unit
    roots = np.sqrt(found.measure.edges)
    counts = found.counts[first:last]
    shares = counts / found.texts
    low, high = found.middle_half
    ends = [
        f"{written(left, unit)} to {written(right, unit)}"
        for left, right in zip(found.measure.edges[first:last], found.measure.edges[first + 1 : last + 1], strict=True)
    ]
    part = theme.PART[mode]
    figure = go.Figure(
        go.Bar(
            x=(roots[first:last] + roots[first + 1 : last + 1]) / 2,
            y=shares,
            width=np.diff(roots[first : last + 1]),
            marker={"color": part["attention"], "line": {"width": 1, "color": theme.BACKGROUND[mode]}},
            customdata=[[end, f"{count:,}"] for end, count in zip(ends, counts, strict=True)],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]} texts, %{y:.1%}<extra></extra>",
            name="texts",
        )
    )
    figure.add_vrect(
        x0=np.sqrt(low), x1=np.sqrt(high), fillcolor=part["positions"], opacity=0.16, line_width=0, layer="below"
    )
    figure.add_vline(x=np.sqrt(found.mean), line={"color": theme.TEXT[mode], "width": 2, "dash": "dash"})
    low_end, high_end = float(found.measure.edges[first]), float(found.measure.edges[last])
    ticks = [tick for tick in root_ticks(high_end) if tick >= low_end]
    if len(ticks) < _TICKS:  # of a narrow range
        ticks = even_ticks(low_end, high_end, least=_TICKS)
    subtitle = (
        f"dashed: the mean, {written(found.mean, unit)}; band: the middle half, "
        f"{written(low, unit)} to {written(high, unit)}"
    )
    return figure.update_layout(
        template=theme.template(mode),
        title={"text": title, "subtitle": {"text": subtitle}},
        xaxis={
            "title": {"text": f"{_QUANTITY[unit]} in a text<br>(root scale: small ones have more room)"},
            "tickvals": np.sqrt(ticks),
            "ticktext": [written(tick, unit).removesuffix(f" {unit}") if tick else "0" for tick in ticks],
            "range": [roots[first] - 0.3 * (roots[1] - roots[0]), roots[last] + 0.3 * (roots[1] - roots[0])],
        },
        yaxis={
            "title": {"text": f"share of {found.texts:,} texts"},
            "tickformat": ".0%",
            "rangemode": "tozero",
            "nticks": 5,
        },
        showlegend=False,
        margin={"t": 76},
        bargap=0,
        height=300,
    )


def _span(found: MeasureDistribution) -> tuple[int, int]:
    """The bins from the first to behind the last that holds a text."""
    held = np.flatnonzero(found.counts)
    if not len(held):
        raise ValueError(f"no text has the measure {found.measure.name} of this head; choose another")
    return int(held[0]), int(held[-1]) + 1
