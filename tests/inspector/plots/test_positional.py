from __future__ import annotations

import math

import numpy as np
import pytest

from inspector import positional
from inspector.plots import positional as positions
from tests.closeness import assert_close

TABLE = np.random.default_rng(0).normal(size=(20, 8)).astype(np.float32)


def test_curves_are_columns_of_each_table() -> None:
    paper = positional.sinusoidal(20, 8)
    figure = positions.curves({"sinusoidal": paper, "<b>own</b>": TABLE}, dimensions=[0, 5])(mode="dark")
    drawn = {(line.yaxis, line.name): line for line in figure.data}
    np.testing.assert_array_equal(drawn["y", "0"].y, [math.sin(position) for position in range(20)])
    np.testing.assert_array_equal(drawn["y2", "5"].y, TABLE[:, 5])
    assert len({line.line.color for line in figure.data}) == 2
    assert figure.layout.yaxis2.title.text == "&lt;b&gt;own&lt;/b&gt;"
    assert figure.layout.xaxis2.title.text == "position"
    assert sum(line.showlegend for line in figure.data) == 2


def test_the_texts_tokens_stand_along_the_curves_and_numbers_behind_them() -> None:
    figure = positions.curves({"own": TABLE}, dimensions=[0], tokens=["<b>", "cat", "sat"])(mode="light")
    assert list(figure.layout.xaxis.tickvals) == [0, 1, 2, 8, 16]
    assert list(figure.layout.xaxis.ticktext) == ["&lt;b&gt;", "cat", "sat", "8", "16"]


def test_curves_stay_apart_by_lightness() -> None:
    figure = positions.curves({"own": TABLE}, dimensions=range(8))(mode="light")
    assert len({line.line.color for line in figure.data}) == 8
    single = positions.curves({"own": TABLE}, dimensions=[3])(mode="light").data[0]
    assert single.line.color == figure.data[0].line.color


def test_a_dimension_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match=r"own has dimensions 0 to 7, so not \[8\]"):
        positions.curves({"own": TABLE}, dimensions=[0, 8])(mode="light")


def test_similarity_by_distance_with_its_band() -> None:
    tables = {name: positional.similarity_by_distance(table) for name, table in (("a", TABLE), ("b", TABLE[::-1]))}
    figure = positions.similarity_by_distance(tables)(mode="light")
    lines = [trace for trace in figure.data if trace.fill is None]
    bands = [trace for trace in figure.data if trace.fill == "toself"]
    cosine = positional.similarity(TABLE)
    assert_close(lines[0].y, [np.diagonal(cosine, distance).mean() for distance in range(20)], relative=1e-6)
    upper, lower = np.array(bands[0].y[:20]), np.array(bands[0].y[20:][::-1])
    assert_close((upper + lower) / 2, lines[0].y, relative=1e-6)
    deviations = [np.diagonal(cosine, distance).std() for distance in range(20)]
    assert_close((upper - lower) / 2, deviations, relative=1e-12)
    assert lines[0].line.dash != lines[1].line.dash
    assert figure.layout.xaxis.title.text == "distance (tokens)"
