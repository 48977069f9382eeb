"""Figures of serial work, of teacher forcing and of old keys: their numbers are those of the tables."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from inspector import stepwise
from inspector.plots.time import clock, forcing, past


def test_a_line_for_each_layer_and_a_mark_at_its_length() -> None:
    table = stepwise.table([16, 64], width=32)
    figure = clock.by_length(
        table,
        of="layer",
        column="flops",
        quantity="FLOPs",
        title="Work",
        names={layer: layer.upper() for layer in stepwise.LAYERS},
        mark=(64, "n = 2d"),
    )
    assert [line.name for line in figure.data] == ["LSTM", "ATTENTION", "BLOCK"]
    assert list(figure.data[0].y) == [16 * 16 * 32**2, 16 * 64 * 32**2]
    assert len({line.line.dash for line in figure.data} | {line.marker.symbol for line in figure.data}) > 3
    assert figure.layout.shapes[0].x0 == 64
    assert figure.layout.annotations[0].x == math.log10(64)


def test_a_difference_of_0_stands_at_the_edge_with_its_number() -> None:
    table = pd.DataFrame({"token": ["a", "b"], "cached": [0.0, 3e-6], "uncached": [1e-6, 0.0], "exact": [np.nan] * 2})
    figure = forcing.differences(stepwise.Forced(table, size=1.0, flops=1, kept=8, dtype="float32"))
    assert [line.name for line in figure.data] == ["with the cache, float32", "without, float32"]
    assert figure.data[0].y[0] > 0
    assert list(figure.data[0].customdata) == [0.0, 3e-6]
    figure = forcing.differences(stepwise.Forced(table, size=1.0, flops=1, kept=0, dtype="float32"))
    assert [line.name for line in figure.data] == ["without, float32"]


def test_changes_are_percentages_by_layer() -> None:
    table = pd.DataFrame(
        {"layer": [0, 0, 1, 1], "tensor": ["key", "value"] * 2, "relative": [0, 0, 0.02, 0.05], "largest": [0, 0, 1, 2]}
    )
    figure = past.moved({"BERT": table, "<b>": table})
    assert [line.name for line in figure.data][:2] == ["keys, BERT", "values, BERT"]
    assert figure.data[2].name == "keys, &lt;b&gt;"
    assert list(figure.data[1].y) == [0, 5]
