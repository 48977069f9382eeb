"""Charts: what stands in a table is what is drawn, and their axes, legends and panels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from inspector.plots import theme
from inspector.plots.chart import OUTLINE, Chart, Mark, Panels, in_rows
from inspector.plots.slide import points

TOKENS = ("the", "<b>", "the")


def test_tokens_stand_along_the_axis_and_are_told_with_their_number() -> None:
    table = pd.DataFrame({"place": [0, 1, 2], "size": [1.0, 3.0, 2.0]})
    figure = Chart(table, "place", "size", "bars", tokens=TOKENS, x_title="token", y_title="length")(mode="light")
    assert list(figure.layout.xaxis.ticktext) == ["the", "&lt;b&gt;", "the"]
    assert [cells[0] for cells in figure.data[0].customdata] == ["0 the", "1 &lt;b&gt;", "2 the"]
    assert "token %{customdata[0]}" in figure.data[0].hovertemplate
    assert list(figure.data[0].y) == [1.0, 3.0, 2.0]


@pytest.mark.parametrize(("last", "step"), [(5, 1), (15, 1), (480, None)])
def test_few_whole_numbers_are_all_labelled_and_of_many_round_ones(last: int, step: int | None) -> None:
    table = pd.DataFrame({"layer": [0, last], "size": [1.0, 2.0]})
    assert Chart(table, "layer", "size")(mode="dark").layout.xaxis.dtick == step


SERIES = pd.DataFrame({"of": ["a", "a", "b", "b"], "x": [1.0, 2.0, 1.0, 2.0], "y": [3.0, 5.0, 4.0, 8.0]})


def test_a_series_has_its_mark_its_size_and_its_ink() -> None:
    chart = Chart(
        SERIES,
        "x",
        "y",
        "bars",
        by="of",
        names={"b": ""},
        parts={"a": "muted", "b": "sequential 7"},
        marks={"b": "curves"},
        sizes={"b": 5},
    )
    for mode in ("light", "dark"):
        bars, curve = chart(mode=mode).data
        assert (bars.type, curve.type, curve.mode) == ("bar", "scatter", "lines")  # a curve has no points
        assert (bars.marker.color, curve.line.color) == (theme.MUTED[mode], theme.SEQUENTIAL[mode][7])
        assert curve.line.width == 5
        assert (bars.showlegend, curve.showlegend) == (True, False)  # "" has no place in the legend


def test_a_band_is_drawn_behind_its_line_and_told_by_nothing() -> None:
    table = SERIES.assign(low=[2.0, 4.0, np.nan, np.nan], high=[4.0, 6.0, np.nan, np.nan])
    figure = Chart(table, "x", "y", by="of", band=("low", "high"))(mode="light")
    band, first, second = figure.data  # the second has none
    assert (list(band.x), list(band.y)) == ([1, 2, 2, 1], [4, 6, 4, 2])
    assert (band.fill, band.hoverinfo, band.showlegend) == ("toself", "skip", False)
    assert band.fillcolor == first.line.color
    assert [first.name, second.name] == ["a", "b"]


@pytest.mark.parametrize("sideways", [False, True])
def test_whiskers_reach_the_two_columns(sideways: bool) -> None:
    table = SERIES[:2].assign(low=[2.0, 4.5], high=[3.5, 6.0])
    (points,) = Chart(table, "x", "y", "points", error=("low", "high"), sideways=sideways)(mode="light").data
    whiskers = points.error_x if sideways else points.error_y
    assert list(whiskers.array) == [0.5, 1.0]
    assert list(whiskers.arrayminus) == [1.0, 0.5]


@pytest.mark.parametrize("sideways", [False, True])
def test_a_datum_that_a_sentence_names_is_a_dot_with_its_words(sideways: bool) -> None:
    """The words stand on the side where the plot goes on, and neither legend nor CSV counts the dot."""
    named = SERIES.assign(told=["3 <b>", "", "", "8"])
    figure = Chart(named, "x", "y", by="of", points_at="told", sideways=sideways)(mode="dark")
    *lines, first, last = figure.data
    assert [line.name for line in lines] == ["a", "b"]
    at = [((dot.y if sideways else dot.x)[0], (dot.x if sideways else dot.y)[0], dot.text[0]) for dot in (first, last)]
    assert at == [(1.0, 3.0, "3 &lt;b&gt;"), (2.0, 8.0, "8")]
    assert (first.textposition, last.textposition) == ("top right", "top left")
    assert not first.showlegend
    assert list(points(figure)["series"].unique()) == ["a", "b"]


def test_bars_have_widths_words_and_opacities() -> None:
    table = SERIES[:2].assign(width=[0.5, 1.5], words=["<b>", "two"], seen=[0.4, 1.0])
    figure = Chart(table, "x", "y", "bars", bar_width="width", text="words", opacity="seen")(mode="light")
    (bars,) = figure.data
    assert list(bars.width) == [0.5, 1.5]
    assert figure.layout.bargap == 0
    assert list(bars.text) == ["&lt;b&gt;", "two"]
    assert "%{text}" in bars.hovertemplate
    assert list(bars.marker.opacity) == [0.4, 1.0]
    assert Chart(table, "x", "y", opacity="seen")(mode="light").data[0].opacity == 0.4  # a line as its first row


def test_a_line_across_a_sideways_chart_is_upright() -> None:
    chart = Chart(SERIES[:2], "x", "y", "bars", y_marks={"mean": 100.0}, y_log=True, sideways=True)
    figure = chart(mode="light")
    (line,), (words,) = figure.layout.shapes, figure.layout.annotations
    assert (line.x0, line.x1) == (100, 100)
    assert (words.text, words.x) == ("mean", 2)  # a logarithmic axis places words by their power of ten
    assert figure.layout.yaxis.autorange == "reversed"


def test_labels_of_neighbouring_lines_stand_one_below_the_other() -> None:
    figure = Chart(SERIES, "x", "y", by="of", x_marks={"here": 1.0, "there": 1.01})(mode="light")
    first, second = figure.layout.annotations
    assert first.yshift - second.yshift > first.font.size


def test_axes_are_written_and_end_as_they_are_told() -> None:
    chart = Chart(SERIES, "x", "y", by="of", x_format=",d", y_format=".0%", x_range=(0, 3), from_zero=True)
    figure = chart(mode="light")
    assert (figure.layout.xaxis.tickformat, figure.layout.yaxis.tickformat) == (",d", ".0%")
    assert tuple(figure.layout.xaxis.range) == (0, 3)
    assert figure.layout.yaxis.rangemode == "tozero"
    assert "%{y:.1%}" in figure.data[0].hovertemplate


@pytest.mark.parametrize(("below", "subtitle", "top"), [(False, "", 76), (False, "words", 96), (True, "words", 76)])
def test_a_legend_and_a_subtitle_take_no_room_from_the_plot(below: bool, subtitle: str, top: int) -> None:
    layout = Chart(SERIES, "x", "y", by="of", below=below, subtitle=subtitle, height=300)(mode="light").layout
    assert layout.margin.t == top
    assert layout.height - layout.margin.t == 300 - 56
    assert (layout.legend.y < 0) is below


@pytest.mark.parametrize("beside", [False, True])
def test_panels_share_a_legend_and_one_axis(beside: bool) -> None:
    first = Chart(SERIES, "x", "y", by="of", x_title="step", y_title="loss", y_marks={"least": 1.0})
    second = Chart(SERIES.assign(y=-SERIES["y"]), "x", "y", by="of", x_title="step", y_title="gain")
    figure = Panels((first, second), "Both", legend="what", beside=beside, height=500)(mode="dark")
    assert [(trace.name, trace.yaxis, trace.showlegend) for trace in figure.data] == [
        *(("a", "y", True), ("b", "y", True), ("a", "y2", False), ("b", "y2", False)),
    ]
    assert list(figure.data[2].y) == [-3, -5]
    assert [axis.title.text for axis in (figure.layout.yaxis, figure.layout.yaxis2)] == ["loss", "gain"]
    assert [axis.title.text for axis in (figure.layout.xaxis, figure.layout.xaxis2)] == [
        "step" if beside else "",
        "step",
    ]
    assert [shape.yref for shape in figure.layout.shapes] == ["y"]
    assert figure.layout.legend.title.text == "what"


def test_long_names_are_broken_into_rows_at_spaces() -> None:
    assert in_rows("a name of some <letters>", 10) == "a name of<br>some<br>&lt;letters&gt;"
    assert in_rows("一二三四五六七八", 10) == "一二三四五<br>六七八"


@pytest.mark.parametrize("mark", ["bars", "points", "curves"])
def test_the_rows_that_a_sentence_names_are_outlined_and_no_other(mark: Mark) -> None:
    chart = Chart(SERIES, "x", "y", mark, by="of").marking([{"of": "b", "x": 2.0}])
    outlined = [
        (x, y)
        for trace in chart(mode="dark").data
        if trace.marker.line.width
        for x, y, width in zip(trace.x, trace.y, trace.marker.line.width, strict=True)
        if width
    ]
    assert outlined == [(2.0, 8.0)]
    assert points(chart(mode="dark")).equals(points(Chart(SERIES, "x", "y", mark, by="of")(mode="dark")))
    assert not [trace for trace in Chart(SERIES, "x", "y", mark)(mode="dark").data if trace.marker.line.width]


def test_what_is_in_no_column_marks_nothing_and_panels_mark_the_chart_that_has_it() -> None:
    chart = Chart(SERIES, "x", "y", "bars")
    assert chart.marking([{"layer": 1}])(mode="light") == chart(mode="light")
    marked = Panels([chart, replace(chart, table=SERIES.rename(columns={"of": "part"}))], "two").marking(
        [{"part": "a"}]
    )
    widths = [trace.marker.line.width for trace in marked(mode="light").data]
    assert [width if isinstance(width, tuple) else None for width in widths] == [None, (OUTLINE, OUTLINE, 0, 0)]
