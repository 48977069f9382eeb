from __future__ import annotations

from math import nan

import numpy as np
import pandas as pd
import pytest

from inspector import text
from inspector.components.grid import (
    Options,
    Roles,
    changes,
    grid_bytes,
    importance_bytes,
    importance_top,
    readable_top,
    side,
)
from inspector.components.pack import quantise
from inspector.plots import theme
from inspector.trace.pooling import pool
from tests.inspector.components.messages import COLOURS, digest, unpack

TABLE = pd.DataFrame(
    {
        "stream": "encoder",
        "layer": [0, 0, 1],
        "head": [0, 1, 0],
        "moved": [0.1, 0.4, 0.2],
        "surprise": [-1.0, 0.5, 0.25],
    }
)


def test_the_grid_of_a_large_model_stays_small():
    layer = np.zeros((12, 512, 512), np.float32)
    pictures = quantise(np.stack([pool(layer, side=side(12, 12))] * 12))
    assert len(grid_bytes(pictures, tokens=512, colours=COLOURS)) <= 1_200_000
    layer = np.zeros((64, 300, 300), np.float32)
    pictures = quantise(np.stack([pool(layer, side=side(40, 64))] * 40))
    assert pictures.nbytes <= 1_200_000


def test_grid_header():
    pictures = np.arange(24, dtype=np.uint8).reshape(2, 3, 2, 2)
    notes = [["a", "b", "c"], ["d", "e", "f"]]
    message = grid_bytes(pictures, tokens=9, colours=COLOURS, scale="sqrt", selected=(1, 2), notes=notes)
    header, values = unpack(message, "u1")
    assert [header[name] for name in ("layers", "heads", "rows", "cols", "tokens")] == [2, 3, 2, 2, 9]
    assert (header["selected"], header["scale"], header["notes"]) == ([1, 2], "sqrt", notes)
    np.testing.assert_array_equal(values, np.arange(24))
    with pytest.raises(ValueError, match=r"\(2, 0\) is outside 2 layers"):
        grid_bytes(pictures, tokens=9, colours=COLOURS, selected=(2, 0))
    with pytest.raises(ValueError, match="notes need an entry for each of 2 layers of 3 heads"):
        grid_bytes(pictures, tokens=9, colours=COLOURS, notes=[["a"]])


def test_a_long_text_s_pictures_have_a_top_that_is_said() -> None:
    cells = np.zeros((1, 2, 50, 50), np.float32)
    cells[0, 0] = np.linspace(0.0004, 0.0011, 2500, dtype=np.float32).reshape(50, 50)  # the other head is masked
    cells[0, 0, 0, :5] = 1.0
    top = readable_top(cells)
    assert top == 0.0011
    assert (cells[cells > 0] < top).mean() >= 0.99
    pictures = quantise(cells, top=top)
    expected = np.rint(255 * np.sqrt(np.minimum(cells.astype(np.float64) / top, 1)))
    assert np.abs(pictures - expected).max() <= 1  # a float32 division may round a tie the other way
    assert pictures[0, 0].min() > 140
    assert readable_top(np.zeros((1, 1, 2, 2), np.float32)) == 1.0
    assert readable_top(np.ones((1, 1, 2, 2), np.float32)) == 1.0


def test_rows_of_the_grid_can_be_named() -> None:
    pictures = np.zeros((2, 1, 3, 3), np.uint8)
    named = grid_bytes(pictures, tokens=3, colours=COLOURS, names=["layer 0", "layer 1 local"])
    assert b'"names":["layer 0","layer 1 local"]' in named
    assert b'"names":["layer 0","layer 1"]' in grid_bytes(pictures, tokens=3, colours=COLOURS)
    with pytest.raises(ValueError, match="1 names don't fit 2 layers"):
        grid_bytes(pictures, tokens=3, colours=COLOURS, names=["layer 0"])


def test_changes_are_absolute_over_the_largest() -> None:
    chance = np.random.default_rng(0)
    layers = [tuple(chance.random((2, 5, 5), dtype=np.float32) for _ in range(2)) for _ in range(3)]
    pictures, top = changes(layers)
    apart = np.abs(np.stack([after - before for before, after in layers]))
    assert top == apart.max()
    np.testing.assert_array_equal(pictures, np.rint(255 * np.sqrt(apart / apart.max())))
    same, none = changes([(layers[0][0], layers[0][0])])
    assert (none, same.max()) == (0, 0)


def test_a_cell_is_the_value_over_the_largest_and_what_is_missing_is_blank() -> None:
    header, cells = unpack(importance_bytes(TABLE, by="moved", layers=2, heads=2, crossed=[(1, 0)]), "u1")
    assert cells.tolist() == [64, 255, 128, 0]
    assert (header["crossed"], header["colours"]["light"]) == ([[1, 0]], list(theme.SEQUENTIAL["light"]))
    assert header["notes"][0][0] == "without it 1 − cosine 0.100, −1.00 bits"
    assert header["notes"][1] == ["without it 1 − cosine 0.200, +0.250 bits", "not measured yet"]


def test_what_may_be_below_zero_has_zero_in_the_middle() -> None:
    header, cells = unpack(importance_bytes(TABLE, by="surprise", layers=2, heads=2, crossed=[]), "u1")
    assert cells.tolist() == [0, 191, 159, 128]
    assert header["colours"]["dark"] == list(theme.DIVERGING["dark"])
    assert importance_top(TABLE, "surprise") == 1.0


def test_without_a_prediction_the_notes_are_of_the_states_alone() -> None:
    table = TABLE.assign(surprise=nan)
    header, _ = unpack(importance_bytes(table, by="moved", layers=2, heads=2, crossed=[]), "u1")
    assert header["notes"][0][1] == "without it 1 − cosine 0.400"
    assert importance_top(table.iloc[:0], "moved") == 0
    np.testing.assert_equal(text.bits(-0.5), "−0.500 bits")


def test_the_bytes_are_those_of_before() -> None:
    """The digests were taken of the functions as they were at a0541a1."""
    pictures = np.arange(24, dtype=np.uint8).reshape(2, 3, 2, 2)
    assert digest(grid_bytes(pictures, tokens=9)) == "b3d241a42dabacc5"
    full = grid_bytes(
        pictures,
        tokens=9,
        scale="sqrt",
        selected=(1, 2),
        notes=[["a", "b", "c"], ["d", "e", "f"]],
        names=["x", "y"],
        crossed={(1, 0), (0, 2)},
        measures={"entropy": [[1.0, None, 2.0], [0.5, 0.1, None]]},
        roles=Roles(
            [["next", "broad", "other"]] * 2,
            {"next": "m"},
            {"next": ("looks", "look")},
            {mode: {"next": "#123456"} for mode in COLOURS},
        ),
        options=Options("entropy", True, ("next",)),
        columns="layer",
        labels=["7", "8", "9"],
    )
    assert digest(full) == "5688691d5218aedf"  # since chips say what heads do
    for by, expected in (("moved", "98ff148e765debd5"), ("surprise", "5a552d0aa58592e8")):
        message = importance_bytes(TABLE, by=by, layers=2, heads=2, crossed=[(1, 0)], names=["a", "b"])
        assert digest(message) == expected
