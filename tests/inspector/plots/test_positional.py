from __future__ import annotations

import math

import numpy as np
import pytest

from inspector import positional
from inspector.plots import positional as positions
from inspector.plots import theme

TABLE = np.random.default_rng(0).normal(size=(20, 8)).astype(np.float32)


def test_curves_are_columns_of_each_table() -> None:
    paper = positional.sinusoidal(20, 8)
    figure = positions.curves({"sinusoidal": paper, "<b>own</b>": TABLE}, dimensions=[0, 5], mode="dark")
    drawn = {(line.yaxis, line.name): line for line in figure.data}
    np.testing.assert_array_equal(drawn["y", "0"].y, [math.sin(position) for position in range(20)])
    np.testing.assert_array_equal(drawn["y2", "5"].y, TABLE[:, 5])
    assert len({line.line.color for line in figure.data}) == 2
    assert figure.layout.yaxis2.title.text == "&lt;b&gt;own&lt;/b&gt;"
    assert figure.layout.xaxis2.title.text == "position"
    assert sum(line.showlegend for line in figure.data) == 2


def test_curves_stay_apart_by_lightness() -> None:
    figure = positions.curves({"own": TABLE}, dimensions=range(8))
    assert len({line.line.color for line in figure.data}) == 8
    single = positions.curves({"own": TABLE}, dimensions=[3]).data[0]
    assert single.line.color == figure.data[0].line.color


def test_a_dimension_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match=r"own has dimensions 0 to 7, so not \[8\]"):
        positions.curves({"own": TABLE}, dimensions=[0, 8])


def test_a_table_is_drawn_whole_and_no_outlier_pales_it() -> None:
    table = np.random.default_rng(1).normal(size=(200, 8)).astype(np.float32)
    table[3, 2] = 1000
    figure = positions.heatmap(table, title="own")
    np.testing.assert_array_equal(figure.data[0].z, table)
    assert figure.data[0].zmin == -figure.data[0].zmax
    assert figure.data[0].zmax < 10
    assert figure.layout.yaxis.autorange == "reversed"
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("dimension", "position")
    assert figure.data[0].colorscale[6] == (0.5, theme.BACKGROUND["light"])


def test_a_whole_table_is_a_small_message() -> None:
    figure = positions.heatmap(positional.sinusoidal(512, 384), title="sinusoidal")
    assert len(figure.to_json()) < 1.5e6  # float32 in base64; a list of numbers is 4 MB


def test_similarity_spans_minus_one_to_one() -> None:
    cosine = positional.similarity(TABLE)
    figure = positions.similarity(cosine, title="own")
    np.testing.assert_allclose(figure.data[0].z, cosine, atol=1e-7)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1)


def test_similarity_by_distance_with_its_band() -> None:
    tables = {name: positional.similarity_by_distance(table) for name, table in (("a", TABLE), ("b", TABLE[::-1]))}
    figure = positions.similarity_by_distance(tables)
    lines = [trace for trace in figure.data if trace.fill is None]
    bands = [trace for trace in figure.data if trace.fill == "toself"]
    cosine = positional.similarity(TABLE)
    np.testing.assert_allclose(lines[0].y, [np.diagonal(cosine, distance).mean() for distance in range(20)])
    upper, lower = np.array(bands[0].y[:20]), np.array(bands[0].y[20:][::-1])
    np.testing.assert_allclose((upper + lower) / 2, lines[0].y)
    deviations = [np.diagonal(cosine, distance).std() for distance in range(20)]
    np.testing.assert_allclose((upper - lower) / 2, deviations, atol=1e-15)
    assert lines[0].line.dash != lines[1].line.dash
    assert figure.layout.xaxis.title.text == "distance (tokens)"
