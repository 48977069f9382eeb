"""The figure of a cell: its bars are the vectors, its colours say sign and share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inspector import record
from inspector.explain import Explanation, why
from inspector.plots import explain, theme
from models import LoadedModel


@pytest.fixture(scope="module")
def cell(minilm: LoadedModel) -> Explanation:
    return why(record(minilm, "The cat sat."), layer=3, head=7, query=2, key=1)


def test_the_bars_are_the_vectors(cell: Explanation) -> None:
    q, k, product = explain.vectors(cell).data
    np.testing.assert_array_equal(q.y, cell.q)
    np.testing.assert_array_equal(k.y, cell.k)
    np.testing.assert_array_equal(product.y, cell.products)
    assert list(product.x) == [str(dimension) for dimension in range(32)]


def test_the_largest_product_can_come_first(cell: Explanation) -> None:
    product = explain.vectors(cell, largest_first=True).data[2]
    assert (np.diff(np.abs(product.y)) <= 0).all()
    np.testing.assert_array_equal(product.y, cell.products[[int(name) for name in product.x]])


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours_say_sign_and_what_is_needed(cell: Explanation, mode: theme.Mode) -> None:
    made = replace(cell, q=np.ones(4), k=np.ones(4), products=np.array([5.0, -1.0, 4.0, 0.5]))
    marker = explain.vectors(made, mode=mode).data[2].marker
    below, above = theme.DIVERGING[mode][1], theme.DIVERGING[mode][-2]
    assert list(marker.color) == [above, below, above, above]
    assert list(marker.opacity == 1) == [True, False, True, False]  # 5 and 4 reach 80 % of 8.5


def test_scores_without_vectors_are_a_sentence(cell: Explanation) -> None:
    with pytest.raises(ValueError, match="seen as scores alone"):
        explain.vectors(replace(cell, q=np.empty(0), k=np.empty(0), products=np.empty(0)))
