"""Pairs of writers as lines: who is joined, how wide and in which colour, held to the table; no line is on a value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from inspector.plots import theme
from inspector.plots.scene import Line, Text
from inspector.plots.still import still
from inspector.plots.theme import Mode
from inspector.plots.writers import PairLines
from tests.closeness import assert_close

TABLE = pd.DataFrame(
    {
        "rank": [0, 1, 2],
        "query": ["L3 H2", "L1 FFN", "L3 H2"],
        "key": ["embedding", "embedding", "L0 H1"],
        "query_kind": ["head", "ffn", "head"],
        "key_kind": ["embedding", "embedding", "head"],
        "contribution": [-2.0, 1.0, 0.5],
    }
)
PARTS = {"head": "attention", "ffn": "ffn", "embedding": "residual"}
DRAWN = PairLines(TABLE, ("query's side", "key's side"), PARTS, {"all other 7 pairs:": 0.25}, quantity="of the score")


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_each_pair_is_a_line_from_one_writer_to_the_other(mode: Mode) -> None:
    figure = DRAWN(mode=mode)
    *lines, values, queries, keys, words = figure.data
    places = [dict(zip((name.strip() for name in side.text), side.y, strict=True)) for side in (queries, keys)]
    assert [set(side) for side in places] == [{"L3 H2", "L1 FFN"}, {"embedding", "L0 H1"}]
    assert max(queries.x) < min(keys.x)
    for line, (_, row) in zip(lines, TABLE.iterrows(), strict=True):
        assert (line.x[0], line.y[0]) == (queries.x[0], places[0][row["query"]])
        assert (line.x[-1], line.y[-1]) == (keys.x[0], places[1][row["key"]])
    thinnest = 1.0
    widths = np.array([line.line.width for line in lines]) - thinnest
    assert_close(widths / widths[0], TABLE["contribution"].abs() / 2, relative=1e-12)
    below, above = theme.DIVERGING[mode][2], theme.DIVERGING[mode][10]
    assert [line.line.color for line in lines] == [below, above, above]
    assert list(values.text) == ["−2.00", "1.00", "0.500"]
    assert list(values.y) == [line.y[1] for line in lines] == [line.y[-2] for line in lines]
    assert all(line.x[1] < value < line.x[-2] for line, value in zip(lines, values.x, strict=True))
    assert words.text[-1] == "all other 7 pairs: 0.250"
    assert [queries.marker.color[list(places[0]).index("L1 FFN")]] == [theme.ink("ffn", mode)]


def test_the_writers_that_a_sentence_names_are_outlined() -> None:
    marked = DRAWN.marking([{"rank": 1}])(mode="light")
    *_, values, queries, keys, _ = marked.data
    for side, name in ((queries, "L1 FFN"), (keys, "embedding")):
        outlined = [label.strip() for label, width in zip(side.text, side.marker.line.width, strict=True) if width]
        assert outlined == [name]
    assert list(values.text) == ["−2.00", "<b>1.00</b>", "0.500"]
    assert not any(any(side.marker.line.width) for side in DRAWN(mode="light").data[-3:-1])


def test_a_file_has_every_name_and_value_and_no_line_over_a_value() -> None:
    scene = still(DRAWN(mode="dark"), mode="dark")
    texts = {mark.text: mark for mark in scene.marks if isinstance(mark, Text)}
    assert {"L3 H2", "L1 FFN", "embedding", "L0 H1", "−2.00", "1.00", "0.500", "query's side"} <= set(texts)
    assert "all other 7 pairs: 0.250" in texts
    lines = [mark for mark in scene.marks if isinstance(mark, Line)]
    assert lines
    for value in ("−2.00", "1.00", "0.500"):
        middle = texts[value].x
        assert not any(min(line.x, line.to_x) < middle < max(line.x, line.to_x) for line in lines)
    assert texts["L3 H2"].anchor == "end"
    assert texts["L3 H2"].x < texts["embedding"].x


def test_no_pair_is_no_picture() -> None:
    with pytest.raises(ValueError, match="there is no pair of writers to draw"):
        replace(DRAWN, table=TABLE.head(0))(mode="light")
