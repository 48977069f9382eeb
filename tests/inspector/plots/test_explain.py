"""The figure of a cell: its bars are the vectors, its colours say sign and share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inspector import record
from inspector.explain import Explanation, WeightStep, why
from inspector.plots import explain, theme
from inspector.plots.scene import Box, Text
from inspector.text import number
from models import LoadedModel
from tests.closeness import assert_close


@pytest.fixture(scope="module")
def cell(minilm: LoadedModel) -> Explanation:
    return why(record(minilm, "The cat sat."), layer=3, head=7, query=2, key=1)


def test_the_bars_are_the_vectors(cell: Explanation) -> None:
    q, k, product = explain.vectors(cell)(mode="light").data
    np.testing.assert_array_equal(q.y, cell.q)
    np.testing.assert_array_equal(k.y, cell.k)
    np.testing.assert_array_equal(product.y, cell.products)
    assert [told[0] for told in product.customdata] == [str(dimension) for dimension in range(32)]


def test_the_largest_product_can_come_first(cell: Explanation) -> None:
    product = explain.vectors(cell, largest_first=True)(mode="light").data[2]
    assert (np.diff(np.abs(product.y)) <= 0).all()
    np.testing.assert_array_equal(product.y, cell.products[[int(told[0]) for told in product.customdata]])


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours_say_sign_and_what_is_needed(cell: Explanation, mode: theme.Mode) -> None:
    made = replace(cell, q=np.ones(4), k=np.ones(4), products=np.array([5.0, -1.0, 4.0, 0.5]))
    marker = explain.vectors(made)(mode=mode).data[2].marker
    below, above = theme.DIVERGING[mode][1], theme.DIVERGING[mode][-2]
    assert list(marker.color) == [above, below, above, above]
    assert [opacity == 1 for opacity in marker.opacity] == [True, False, True, False]  # 5 and 4 reach 80 % of 8.5


def test_scores_without_vectors_are_a_sentence(cell: Explanation) -> None:
    with pytest.raises(ValueError, match="seen as scores alone"):
        explain.vectors(replace(cell, q=np.empty(0), k=np.empty(0), products=np.empty(0)))(mode="light")


def test_steps_are_written_as_what_they_are(cell: Explanation) -> None:
    written = {step.name: explain.formula(cell, step) for step in cell.steps}
    assert written["scale"] == "× 1/√32 = 0.177"
    assert written["normaliser"] == f"− log Σ exp = {cell.normaliser:.2f}".rstrip()
    plain = replace(cell, products=np.ones(7))  # 0.177 is no root of 7
    assert explain.formula(plain, cell.steps[1]) == "× 0.177"
    unscaled = replace(cell, steps=(WeightStep("scale", 1.0, 2.0), *cell.steps[2:]))
    assert explain.formula(unscaled, unscaled.steps[0]) == "× 1 (no scale)"
    assert explain.formula(cell, WeightStep("bias", -1.5, 2.0)) == "+ bias = −1.50"
    linear = replace(
        cell, steps=(WeightStep("dot product", None, 7.4), WeightStep("logarithm", None, 2.0), *cell.steps[-2:])
    )
    assert [explain.formula(linear, step) for step in linear.steps[:2]] == ["φ(q) · φ(k)", "ln: the score"]
    sigmoid = replace(cell, normalised=False)
    assert explain.formula(sigmoid, WeightStep("keys", -2.5, 0.1)) == "− ln n = −2.50"
    assert explain.formula(sigmoid, WeightStep("normaliser", 0.74, -0.64)) == "− log (1 + exp) = 0.740"


def test_of_many_keys_the_largest_and_the_chosen_are_seen(cell: Explanation) -> None:
    assert explain.seen_keys(cell, most=10) == list(range(len(cell.row[-1])))
    made = replace(cell, key=0, row=np.array([[0.01, 0.5, 0.2, 0.09, 0.2]]))
    assert explain.seen_keys(made, most=3) == [0, 1, 2]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_slide_says_the_steps_and_the_weights(cell: Explanation, mode: theme.Mode) -> None:
    scene = explain.slide(cell, mode=mode)
    words = [mark.text for mark in scene.marks if isinstance(mark, Text)]
    assert words[0].startswith(f"Why ‘cat’ gives ‘the’ {number(cell.weight)} of its attention: layer 3, head 7")
    assert "× 1/√32 = 0.177" in words
    weights = record_row(cell)
    assert [number(weight) for weight in weights] == words[-2 * len(weights) :][1::2]
    bars = [mark for mark in scene.marks if isinstance(mark, Box) and mark.fill]
    assert_close([bar.width for bar in bars], np.maximum(1, 880 * weights / weights.max()), relative=1e-6)
    assert theme.BACKGROUND[mode] in scene.svg()


def record_row(cell: Explanation) -> np.ndarray:
    """The weights of the query, by a softmax of the scores."""
    scores = np.exp(cell.row[-3] - cell.row[-3].max())
    return scores / scores.sum()
