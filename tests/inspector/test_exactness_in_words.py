"""The sentence of an exactness: when a weight on what is still to come is called the model's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector import exactness, record
from tests.models.own_models import own


@pytest.mark.parametrize(
    ("future", "lets_through", "told", "holds"),
    [(0.2, True, True, True), (0.2, False, False, False), (0.0, True, False, True), (0.0, False, False, True)],
)
def test_a_weight_to_come_is_the_models_own_where_there_is_a_weight_and_a_fill_that_lets_it_through(
    future: float, lets_through: bool, told: bool, holds: bool
) -> None:
    trace = record(own("decoder"), "a dog ran")
    checked = exactness.check(trace, expected_layers=len(trace.sites))
    found = replace(checked, future=future, lets_through=lets_through)
    assert ("the model's own fill" in str(found)) == told
    assert f"a token to come is {future:.3g}" in str(found)
    assert found.holds == holds
