from __future__ import annotations

import math

from inspector.plots import questions, theme
from inspector.questions.record.both import Both
from inspector.questions.record.picture import Bars, Lines, Series

TITLE = Both("cost, FLOPs", "开销（FLOPs）")


def test_bars_stand_from_the_top_with_their_numbers_and_names_in_the_readers_language():
    bars = Bars((Both("dot", "点积"), "<b>x</b>"), (3.0, 1200.0), TITLE, parts=("attention", "ffn"), mark=10.0)
    figure = questions.chart(bars, language="zh")(mode="light")
    (drawn,) = figure.data
    assert list(drawn.text) == ["3.00", "1,200"]
    assert list(figure.layout.yaxis.ticktext) == ["点积", "&lt;b&gt;x&lt;/b&gt;"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.title.text == "开销（FLOPs）"
    assert list(drawn.marker.color) == [theme.PART["light"]["attention"], theme.PART["light"]["ffn"]]
    assert figure.layout.xaxis.range[1] > 1200
    assert "1,200" in questions.told(bars, "en")


def test_a_bar_without_a_number_breaks_nothing():
    figure = questions.chart(Bars(("a", "b"), (math.nan, math.inf), TITLE, log=True))(mode="dark")
    assert all(math.isnan(value) for value in figure.data[0].x)
    questions.chart(Bars(("a",), (0.0,), TITLE))(mode="light")
    questions.chart(Bars(("a", "b"), (0.0, 2.0), TITLE, log=True))(mode="light")
    questions.chart(Bars((), (), TITLE))(mode="light")


def test_lines_of_one_part_are_told_apart_by_colour_and_dash():
    x = [1.0, 10.0, 100.0]
    two = Lines((Series("a", x, x), Series("b", x, x)), TITLE, TITLE, log_x=True, log_y=True, mark_y=1.0)
    figure = questions.chart(two)(mode="light")
    assert len({trace.line.color for trace in figure.data}) == 2
    assert len({trace.line.dash for trace in figure.data}) == 2
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_an_axis_of_powers_needs_a_power_of_ten():
    near = Lines((Series("a", [1.0, 2.0], [2e-6, 3e-6]),), TITLE, TITLE, log_y=True)
    assert questions.chart(near)(mode="light").layout.yaxis.type != "log"


def test_lines_of_several_parts_have_their_parts_colours():
    x = [1.0, 2.0]
    figure = questions.chart(Lines((Series("a", x, x), Series("b", x, x, part="ffn")), TITLE, TITLE))(mode="dark")
    part = theme.PART["dark"]
    assert [trace.line.color for trace in figure.data] == [part["attention"], part["ffn"]]


def test_a_long_name_is_broken_into_rows():
    english = "a rather long name of a bar that would take the whole plot"
    chinese = "一个很长很长的名字占据了整张图所以必须要换行才能看清楚"
    for name in (english, chinese):
        figure = questions.chart(Bars((name,), (1.0,), TITLE))(mode="light")
        assert "<br>" in figure.layout.yaxis.ticktext[0]
