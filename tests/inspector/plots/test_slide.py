"""Charts for slides: larger letters, the same numbers; and the points of a chart as a table."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from inspector import costs
from inspector.plots import costs as draw
from inspector.plots import slide, theme
from inspector.plots.chart import Chart, Panels


def figure(mode: theme.Mode = "light") -> go.Figure:
    lines = [
        go.Scatter(x=[1, 2, 3], y=np.array([0.5, 0.25, 1 / 3]), name="a &lt;b&gt;", line={"width": 2}, mode="lines")
    ]
    band = go.Scatter(x=[1, 2], y=[0, 1], hoverinfo="skip")
    legend = theme.LEGEND_BELOW
    return go.Figure(
        [*lines, band, go.Bar(x=["x &amp; y"], y=[2.0])],
        layout={"template": theme.template(mode), "title": {"text": "T"}, "legend": legend, "margin": {"t": 50}},
    )


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_slide_has_the_same_points_in_larger_type(mode: theme.Mode) -> None:
    small, large = figure(mode), slide.enlarged(figure(mode))
    for before, after in zip(*(json.loads(one.to_json())["data"] for one in (small, large)), strict=True):
        assert (before["x"], before["y"]) == (after["x"], after["y"])
    assert (large.layout.width, large.layout.height) == (slide.WIDTH, slide.HEIGHT)
    old, new = small.layout.template.layout, large.layout.template.layout
    assert new.font.size == pytest.approx(slide.TYPE * old.font.size)
    assert new.xaxis.tickfont.size == pytest.approx(slide.TYPE * old.xaxis.tickfont.size)
    assert new.paper_bgcolor == theme.BACKGROUND[mode]
    assert large.data[0].line.width == slide.STROKE * 2
    assert large.layout.margin.t == slide.TYPE * 50
    assert large.layout.legend.orientation == "v"


def test_a_legend_of_many_lines_fits_beside_the_plot() -> None:
    table = costs.breakdown(_config(), tokens=13)
    large = slide.enlarged(draw.by_layer(table, value="flops")(mode="light"))
    groups = {trace.legendgrouptitle.text for trace in large.data}
    assert 1.45 * large.layout.legend.font.size * (len(large.data) + 2 * len(groups)) <= 431


def _config():
    from transformers import BertConfig

    config = BertConfig(num_hidden_layers=2, hidden_size=32, num_attention_heads=2, intermediate_size=64)
    config.architectures = ["BertModel"]
    return config


def test_points_are_the_numbers_of_lines_and_bars_without_bands() -> None:
    table = slide.points(figure())
    assert list(table["series"]) == ["a <b>"] * 3 + ["series 2"]
    assert list(table["x"]) == [1, 2, 3, "x & y"]
    assert list(table["y"]) == [0.5, 0.25, 1 / 3, 2.0]
    assert slide.points(go.Figure()).empty


def test_a_chart_without_a_legend_has_a_slide() -> None:
    table = pd.DataFrame({"layer": [0, 1], "size": [1.0, 2.0]})
    chart = Chart(table, "layer", "size", y_title="size")
    for small in (chart, Panels((chart, chart), "sizes"), replace(chart, listed=False, by="layer")):
        large = slide.enlarged(small(mode="light"))
        assert large.layout.showlegend is False
        assert large.layout.width == slide.WIDTH
