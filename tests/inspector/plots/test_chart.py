"""Axes of charts: a text's tokens, and whole numbers, few and many."""

from __future__ import annotations

import pandas as pd
import pytest

from inspector.plots.chart import Chart

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
