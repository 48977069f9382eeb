from __future__ import annotations

import json
from math import nan

import numpy as np
import pandas as pd

from inspector.plots import importance, theme

TABLE = pd.DataFrame(
    {
        "stream": "encoder",
        "layer": [0, 0, 1],
        "head": [0, 1, 0],
        "moved": [0.1, 0.4, 0.2],
        "surprise": [-1.0, 0.5, 0.25],
    }
)


def unpacked(message: bytes) -> tuple[dict[str, object], list[int]]:
    end = 4 + int.from_bytes(message[:4], "little")
    return json.loads(message[4:end]), list(message[end + -end % 4 :])


def test_a_cell_is_the_value_over_the_largest_and_what_is_missing_is_blank() -> None:
    header, cells = unpacked(importance.cells(TABLE, by="moved", layers=2, heads=2, crossed=[(1, 0)]))
    assert cells == [64, 255, 128, 0]
    assert (header["crossed"], header["colours"]["light"]) == ([[1, 0]], list(theme.SEQUENTIAL["light"]))
    assert header["notes"][0][0] == "without it 1 − cosine 0.100, −1.00 bits"
    assert header["notes"][1] == ["without it 1 − cosine 0.200, +0.250 bits", "not measured yet"]


def test_what_may_be_below_zero_has_zero_in_the_middle() -> None:
    header, cells = unpacked(importance.cells(TABLE, by="surprise", layers=2, heads=2, crossed=[]))
    assert cells == [0, 191, 159, 128]
    assert header["colours"]["dark"] == list(theme.DIVERGING["dark"])
    assert importance.top(TABLE, "surprise") == 1.0


def test_without_a_prediction_the_notes_are_of_the_states_alone() -> None:
    table = TABLE.assign(surprise=nan)
    header, _ = unpacked(importance.cells(table, by="moved", layers=2, heads=2, crossed=[]))
    assert header["notes"][0][1] == "without it 1 − cosine 0.400"
    assert importance.top(table.iloc[:0], "moved") == 0
    np.testing.assert_equal(importance.bits(-0.5), "−0.500 bits")
