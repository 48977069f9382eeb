"""Entropy against scipy on rows in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy as scipy_entropy

from inspector.information import entropy


@pytest.mark.parametrize("margin", [0.0, 1.0, 5.0, 10.0, 14.0, 16.0, 20.0])
def test_a_row_that_is_nearly_one_hot_keeps_its_digits(margin: float) -> None:
    scores = np.random.default_rng(0).normal(size=(4, 50, 60))
    scores[..., 7] += margin
    weights = softmax(scores, axis=-1)
    expected = scipy_entropy(weights, axis=-1)
    assert entropy(weights.astype(np.float32)) == pytest.approx(expected, rel=1e-5)
    assert entropy(weights) == pytest.approx(expected, rel=1e-6)


def test_a_row_whose_weight_is_partly_in_a_sink_is_summed_as_it_is() -> None:
    row = np.array([[0.5, 0.25, 0.0]])
    assert entropy(row) == pytest.approx(-0.5 * np.log(0.5) - 0.25 * np.log(0.25), rel=1e-12)


def test_a_row_of_one_key_has_no_entropy() -> None:
    assert entropy(np.ones((2, 1), np.float32)).tolist() == [0, 0]
