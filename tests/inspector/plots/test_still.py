"""The still picture of a chart: where its bars and points stand, held against plain arithmetic on the table."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import pytest

from inspector.plots.chart import Chart
from inspector.plots.scene import Box, Line, Scene, Text
from inspector.plots.still import still
from tests.closeness import assert_close

ROWS = pd.DataFrame(
    {"layer": [0, 0, 1, 1, 2, 2], "part": ["attention", "ffn"] * 3, "share": [1.0, 2.0, 3.0, 1.0, 0.5, 4.0]}
)
PARTS = {"attention": "attention", "ffn": "ffn"}


def of(kind: type, scene: Scene) -> list:
    return [mark for mark in scene.marks if isinstance(mark, kind)]


def drawn(chart: Chart) -> Scene:
    return still(chart(mode="light"), mode="light")


def test_bars_are_as_high_as_their_values_and_stand_side_by_side() -> None:
    scene = drawn(Chart(ROWS, "layer", "share", "bars", by="part", parts=PARTS))
    bars = [box for box in of(Box, scene) if box.width != box.height][-6:]
    heights = {part: [box.height for box in bars[at : at + 3]] for at, part in ((0, "attention"), (3, "ffn"))}
    by_part = {part: rows["share"].tolist() for part, rows in ROWS.groupby("part")}
    assert_close(
        [*heights["attention"], *heights["ffn"]],
        [value * heights["ffn"][2] / 4 for value in [*by_part["attention"], *by_part["ffn"]]],
        relative=1e-9,
    )
    assert len({round(box.y + box.height, 6) for box in bars}) == 1  # all on one line, the zero
    assert_close(bars[3].x, bars[0].x + bars[0].width, relative=1e-9)


def test_stacked_bars_stand_on_each_other_by_their_sign() -> None:
    signed = ROWS.assign(share=[1.0, 2.0, -3.0, -1.0, 0.5, -4.0])
    scene = drawn(Chart(signed, "layer", "share", "bars", by="part", parts=PARTS, stacked=True))
    bars = [box for box in of(Box, scene) if box.width != box.height][-6:]
    first, second = bars[:3], bars[3:]
    assert_close(second[0].y + second[0].height, first[0].y, relative=1e-9)  # 2 on 1
    assert_close(second[1].y, first[1].y + first[1].height, relative=1e-9)  # -1 under -3
    assert_close(second[2].y, first[2].y + first[2].height, relative=1e-9)  # 0.5 and -4 meet at zero


def test_points_lie_where_a_log_axis_puts_them() -> None:
    table = pd.DataFrame({"tokens": [1, 10, 100], "bytes": [1.0, 100.0, 10000.0]})
    scene = drawn(Chart(table, "tokens", "bytes", "points", x_log=True, y_log=True))
    dots = [box for box in of(Box, scene) if box.radius]
    across, up = [dot.x for dot in dots], [dot.y for dot in dots]
    assert_close(across[1] - across[0], across[2] - across[1], relative=1e-9)
    assert_close(up[1] - up[0], up[2] - up[1], relative=1e-9)
    assert up[0] > up[2]
    assert {"1", "100", "10,000"} <= {text.text for text in of(Text, scene)}


def test_a_mark_and_its_words_stand_at_one_place_of_a_log_axis() -> None:
    table = pd.DataFrame({"tokens": [1, 10, 100], "bytes": [1.0, 100.0, 10000.0]})
    chart = Chart(table, "tokens", "bytes", "points", x_log=True, y_log=True, x_marks={"n = 2d": 10})
    scene = drawn(chart)
    second = sorted(box.x + box.width / 2 for box in of(Box, scene) if box.radius)[1]
    (words,) = (text for text in of(Text, scene) if text.text == "n = 2d")
    assert any(line.x == line.to_x and abs(line.x - second) < 0.5 for line in of(Line, scene) if line.weight == 1.5)
    assert abs(words.x - second) < 6
    assert chart(mode="light").layout.annotations[0].x == 1  # as plotly takes it


def test_a_gap_in_a_line_stays_a_gap_and_dashes_keep_its_length() -> None:
    table = pd.DataFrame({"x": [0, 1, 2, 3, 4], "y": [1.0, 2.0, float("nan"), 1.0, 1.0], "by": ["a"] * 5})
    whole = drawn(Chart(table, "x", "y", by="by", styles={}))
    dashed = drawn(Chart(table, "x", "y", by="by", styles={"a": 1}))

    def covered(scene: Scene) -> float:
        return sum(abs(line.to_x - line.x) for line in of(Line, scene) if line.weight == 2)

    assert len([line for line in of(Line, whole) if line.weight == 2]) == 2
    assert 0.5 < covered(dashed) / covered(whole) < 0.75  # strokes of 9 and gaps of 5


def test_tokens_are_letters_and_not_markup() -> None:
    table = pd.DataFrame({"place": [0, 1], "share": [0.5, 0.25], "token": ["<b>x</b>", "$y$"]})
    scene = drawn(Chart(table, "place", "share", "bars", places=["<i>a</i>", "b & c"], over="token"))
    texts = {text.text for text in of(Text, scene)}
    assert {"<b>x</b>", "$y$", "<i>a</i>", "b & c"} <= texts
    assert "&lt;b&gt;x&lt;/b&gt;" in scene.svg()


@pytest.mark.parametrize(
    "figure", [go.Figure(go.Heatmap(z=[[1, 2]])), go.Figure(), go.Figure(go.Scatter(x=[1], y=[1], yaxis="y2"))]
)
def test_what_is_drawn_by_hand_is_refused(figure: go.Figure) -> None:
    with pytest.raises(ValueError, match=r"a still picture|nothing to draw"):
        still(figure, mode="light")


def test_the_words_beside_points_and_the_outline_of_points_are_the_pages() -> None:
    figure = go.Figure(layout={"xaxis": {"visible": False, "range": [0, 1]}})
    figure.add_scatter(
        x=[0.25, 0.75],
        y=[1.0, 2.0],
        mode="markers+text",
        text=["  low", "<b>high</b>"],
        textposition=["middle right", "middle left"],
        marker={"size": 12, "color": "#ffffff", "line": {"color": "#000000", "width": 1.5}},
    )
    scene = still(figure, mode="light")
    low, high = (next(text for text in of(Text, scene) if text.text == words) for words in ("low", "high"))
    dots = [box for box in of(Box, scene) if box.radius]
    assert [(dot.stroke, dot.weight) for dot in dots] == [("#000000", 1.5)] * 2
    assert (low.anchor, high.anchor) == ("start", "end")
    assert dots[0].x + dots[0].width < low.x < dots[0].x + 3 * dots[0].width
    assert dots[1].x - 2 * dots[1].width < high.x < dots[1].x
    assert (low.bold, high.bold) == (False, True)
    assert "0.4" not in {text.text for text in of(Text, scene)}  # no axis below
