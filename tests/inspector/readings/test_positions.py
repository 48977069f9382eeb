"""Readings of positions against loops over the rows, and the sentences made of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from inspector import positional
from inspector.readings import positions as read
from inspector.wording.english import positions as words


@pytest.mark.parametrize("tokens", [2, 3, 4, 13, 60])
def test_cosines_are_those_of_the_rows(tokens: int) -> None:
    table = np.random.default_rng(0).normal(size=(60, 8))
    found = read.alike(table, tokens=tokens)
    assert found is not None

    def mean(apart: int) -> float:
        pairs = [(table[at], table[at + apart]) for at in range(tokens - apart)]
        return float(np.mean([a @ b / math.sqrt((a @ a) * (b @ b)) for a, b in pairs]))

    assert found.tokens == tokens
    assert found.near == pytest.approx(mean(1))
    if tokens < 3:
        assert found.far is None
        assert "apart" not in words.positions(read.Positions((), False, found))
    else:
        assert found.apart == max(2, tokens // 2)
        assert found.far == pytest.approx(mean(found.apart))


def test_one_token_has_no_neighbour() -> None:
    assert read.alike(positional.sinusoidal(10, 8), tokens=1) is None
    alone = read.Positions(("learned",), True, None)
    assert words.positions(alone) == "This model adds to each token a learned vector for its place."
    assert words.terms(alone) == ["position table", "cosine"]


def test_ways_are_joined_and_none_is_said() -> None:
    alike = read.Alike(tokens=4, near=-0.5, apart=2, far=0.25)
    both = read.Positions(("learned", "t5"), True, alike)
    assert words.positions(both) == (
        "This model adds to each token a learned vector for its place and adds to each score a learned number for the "
        "distance of query and key (as T5 does). On this text its vectors have a mean cosine of −0.500 between "
        "neighbours and 0.250 between places 2 apart."
    )
    none = words.positions(read.Positions((), False, alike))
    assert none.startswith("This model adds no vector for a token's place; if it knows the order, then in another way.")
    assert "the vectors of the paper's table, for comparison, have" in none
