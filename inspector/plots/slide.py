"""A chart for a slide: the same figure in large type on 16 by 9, and its points as a table."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

WIDTH, HEIGHT = 1120, 630
_LEGEND = 430  # pixels of the height that a legend beside the plot has
TYPE, STROKE = 1.6, 1.5  # times the size of letters, and the width of lines, on the page


def enlarged(figure: go.Figure) -> go.Figure:
    """Return the figure for a slide of WIDTH by HEIGHT pixels: larger letters, thicker lines, the same numbers."""
    content = _scaled(figure.to_plotly_json())
    layout = content["layout"]
    layout["template"] = _scaled(figure.layout.template.to_plotly_json())
    layout["width"], layout["height"] = WIDTH, HEIGHT
    slide = go.Figure(content).update_layout(title_font_weight=600)
    legend = slide.layout.legend
    if slide.layout.showlegend is not False and legend.y is not None and legend.y < 0:  # a slide is wider than high
        slide.update_layout(legend={"orientation": "v", "x": 1.02, "y": 1, "xanchor": "left", "yanchor": "top"})
        _fit_legend(slide)
    return slide


def _fit_legend(slide: go.Figure) -> None:
    """Make the letters of a legend at the side as small as its lines need them: a slide does not scroll."""
    shown = [trace for trace in slide.data if trace.showlegend is not False]
    groups = {trace.legendgrouptitle.text for trace in shown} - {None}
    size = min(_LEGEND / (1.45 * (len(shown) + 2 * len(groups))), TYPE * 13)
    slide.update_layout(legend={"font": {"size": size}, "grouptitlefont": {"size": size}, "tracegroupgap": 0.6 * size})


def _scaled(part: Any, name: str = "") -> Any:
    """Scale the sizes of letters, lines, points and margins in a part of a figure; `name`: where the part stands."""
    if isinstance(part, list | tuple):
        return [_scaled(one, name) for one in part]
    if not isinstance(part, dict):
        return part
    return {key: _times(key, name) * value if _is_size(value) else _scaled(value, key) for key, value in part.items()}


def _times(key: str, parent: str) -> float:
    if key == "size" and parent.endswith("font"):
        return TYPE
    if (key == "width" and parent == "line") or (key == "size" and parent == "marker"):
        return STROKE
    return TYPE if parent in ("margin", "pad") or key in ("standoff", "ticklen", "xshift", "yshift") else 1


def _is_size(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def points(figure: go.Figure) -> pd.DataFrame:
    """Return the points of a chart of lines and bars, a row each: series, x, y.

    A band, which is drawn for the eye alone, is left out.
    """
    tables = [
        pd.DataFrame({"series": _name(trace, number), "x": _plain(trace.x), "y": _plain(trace.y)})
        for number, trace in enumerate(figure.data)
        if trace.type in ("scatter", "bar") and trace.hoverinfo != "skip"
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["series", "x", "y"])


def _name(trace: Any, number: int) -> str:
    return html.unescape(trace.name or f"series {number}")


def _plain(values: Any) -> list[Any]:
    """Return the values of an axis; text as it reads, not as plotly wants it escaped."""
    return [html.unescape(value) if isinstance(value, str) else value for value in np.asarray(values, object)]
