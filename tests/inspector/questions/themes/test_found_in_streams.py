"""Questions 126 to 132 and 138 to 141 on MiniLM and the page's example, or on the model that stands in."""

from __future__ import annotations

import pytest

import models
from inspector.questions.themes.found_in_streams import THEME
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_141_the_states_hang_on_one_dimension(answer: Ask):
    weights = models.load("minilm-own").network
    before = [weight.sum().item() for weight in weights.parameters()]
    found = answer(141)
    assert found.verdict == "true"
    assert found.measured_on == "minilm-own"
    assert found.numbers["dimension"] == 99  # of MiniLM: the largest before 11 of 13 norms
    assert found.numbers["place"] == pytest.approx(11 / 13)
    assert found.numbers["moved"] > 0.5 > 0.2 > found.numbers["others"]
    assert found.numbers["share"] < 2e-6
    assert [weight.sum().item() for weight in weights.parameters()] == before  # the shared model is as it was
