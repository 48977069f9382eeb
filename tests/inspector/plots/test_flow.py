"""Figures of what flows: their numbers are those given, their axes are named."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.plots import flow


def test_a_rollout_shows_its_shares_the_last_layer_on_top() -> None:
    shares = np.array([[0.5, 0.25, 0.25], [0.0, 0.125, 0.875], [0.0, 0.0, 1.0]])
    figure = flow.rollout(shares, tokens=["a", "b", "<c>"], token="2 <c>")
    drawn = figure.data[0]
    np.testing.assert_array_equal(drawn.z, shares)
    assert list(drawn.y) == ["before layer 0", "before layer 1", "after layer 1"]
    assert figure.layout.yaxis.autorange is None  # plotly's own: the first row at the bottom
    assert drawn.zmax == 0.875  # not the 1 of the token alone
    assert "&lt;c&gt;" in drawn.hovertemplate
    with pytest.raises(ValueError, match=r"shares of shape \(3, 3\) do not fit 2 tokens"):
        flow.rollout(shares, tokens=["a", "b"], token="a")


def test_what_keys_hand_over_starts_at_zero() -> None:
    figure = flow.handed_over(np.array([3.0, 0.5]), keys=["a", "b"])
    assert list(figure.data[0].y) == [3.0, 0.5]
    assert figure.layout.yaxis.rangemode == "tozero"
    with pytest.raises(ValueError, match=r"norms of shape \(2,\) do not fit 3 keys"):
        flow.handed_over(np.zeros(2), keys=["a", "b", "c"])
