"""Questions 16 to 25 on MiniLM and the page's example, and on random numbers with seed 0."""

from __future__ import annotations

import pytest

from inspector.questions.themes.scale import THEME
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_16_variance_is_d_k_for_independent_entries_alone(answer: Ask):
    found = answer(16)
    assert found.verdict == "depends"
    assert found.held == (True, False, False)
    assert found.numbers["drawn"] == pytest.approx(1, abs=0.005)  # d_k from 4 to 4,096: 0.995 to 1.005, of the mean
    assert found.numbers["largest"] > 10  # trained heads are nowhere near
