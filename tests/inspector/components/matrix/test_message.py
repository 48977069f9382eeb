"""The message of a matrix, read back with struct, json and numpy alone."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.components.matrix import MatrixMessage, Panel
from tests.inspector.components.messages import unpack


def message(*panels: Panel, **changes) -> MatrixMessage:
    return MatrixMessage(panels, row_title="query", column_title="key", **changes)


def test_values_travel_exactly_and_masked_cells_as_nan() -> None:
    values = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    values[1, 2] = -np.inf
    header, data = unpack(message(Panel(values, rows=list("abc"), columns=range(4))).to_bytes(), "<f4")
    expected = np.where(np.isfinite(values), values, np.nan)
    np.testing.assert_array_equal(data.reshape(3, 4), expected)
    assert header["panels"][0]["rows"] == ["a", "b", "c"]
    assert header["panels"][0]["columns"] == {"start": 0, "step": 1, "count": 4}
    assert header["vmax"] == pytest.approx(np.nanmax(np.abs(expected)))


def test_two_matrices_share_the_scale_of_the_larger() -> None:
    left, right = np.full((2, 2), 0.25), np.full((2, 3), 0.5)
    panels = (
        Panel(left, rows="ab", columns="cd", title="A", marked=(1,), named=(0, 1)),
        Panel(right, rows="ab", columns="cde", title="B"),
    )
    header, data = unpack(message(*panels, quantity="share").to_bytes(), "<f4")
    assert header["vmax"] == 0.5
    assert [panel["title"] for panel in header["panels"]] == ["A", "B"]
    assert header["panels"][0]["marked"] == [1]
    assert [panel.get("named") for panel in header["panels"]] == [[0, 1], None]
    np.testing.assert_array_equal(data, [0.25] * 4 + [0.5] * 6)
    assert message(*panels, top=0.75).end == 0.75


def test_kinds_of_cells_have_a_colour_each_up_to_the_last() -> None:
    panel = Panel(np.array([[0.0, 1.0]]), rows="a", columns="bc")
    header, _ = unpack(message(panel, kinds=("none", "near", "far")).to_bytes(), "<f4")
    assert (header["kinds"], header["vmax"]) == (["none", "near", "far"], 2)
    assert unpack(message(panel).to_bytes(), "<f4")[0]["kinds"] == []


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 2\) does not fit 1 rows and 2 columns"):
        Panel(np.zeros((2, 2)), rows="a", columns="bc")
    with pytest.raises(ValueError, match=r"named cell \(0, 2\) is outside of 1 rows and 2 columns"):
        Panel(np.zeros((1, 2)), rows="a", columns="bc", named=(0, 2))
    with pytest.raises(ValueError, match="no cell"):
        Panel(np.zeros((0, 0)), rows="", columns="")
    panel = Panel(np.zeros((1, 1)), rows="a", columns="b")
    assert message(panel).end == 1.0
    with pytest.raises(ValueError, match="not 3"):
        message(panel, panel, panel)
    with pytest.raises(ValueError, match="top 0"):
        message(panel, top=0)
