"""Questions 114 to 116, 121 and 142 on MiniLM and the page's example; 115 on mini-gpt, which stands in."""

from __future__ import annotations

import pytest

from inspector.questions.asking import find
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("number", [114, 115, 116, 121, 142])
def test_a_corrupted_number_changes_the_verdict(number: int, answer: Ask):
    assert find(number).number == number
    assert_corruption_changes_the_verdict(answer(number))


def test_114_heads_look_at_neighbours(answer: Ask):
    assert answer(114).verdict == "true"  # Clark et al. 2019: more than half of a head's weight


def test_115_induction_heads_are_after_the_first_layer(answer: Ask):
    found = answer(115)
    assert found.verdict == "true"
    assert found.measured_on == "mini-gpt"


def test_116_the_first_token_is_a_sink(answer: Ask):
    found = answer(116)
    assert found.verdict == "true"
    assert found.numbers["even"] == pytest.approx(1 / 13)  # an encoder that reads 13 tokens
