"""Question 137 on MiniLM and the page's example."""

from __future__ import annotations

import pytest

from inspector.questions.themes.found_in_words import THEME
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_137_order_changes_the_states_of_a_trained_model(answer: Ask):
    found = answer(137)
    assert 0 < found.numbers["smallest"] <= found.numbers["median"] <= found.numbers["largest"]
    assert found.numbers["median"] > 0.1  # a tenth of a state's length
