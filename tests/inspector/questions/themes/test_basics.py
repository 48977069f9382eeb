"""Questions 1 to 15 on MiniLM and the page's example, and on tiny networks with fixed seeds."""

from __future__ import annotations

import pytest

from inspector.questions.themes.basics import THEME
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict

MEASURED = [question for question in THEME.questions if question.measure is not None]
VERDICTS = {  # claims.md's letters
    1: "true",
    2: "depends",
    3: "false",
    4: "depends",
    5: "depends",
    6: "true",
    7: "true",
    8: "depends",
    9: "depends",
    10: "true",
    11: "depends",
    12: "depends",
    13: "true",
    14: "true",
}


@pytest.mark.parametrize("question", MEASURED, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


@pytest.mark.parametrize("number", VERDICTS)
def test_the_verdict_is_that_of_the_claim(number: int, answer: Ask):
    assert answer(number).verdict == VERDICTS[number]


def test_1_the_formula_gives_the_weights(answer: Ask):
    found = answer(1)
    assert found.numbers["formula"] < 1e-6  # claims.md: max |diff| < 1e-6
    assert found.numbers["rows"] < 1e-6


def test_3_a_row_has_an_entry_for_each_token(answer: Ask):
    found = answer(3)
    assert found.numbers["entries"] == 13  # the tokens of the example
    assert found.numbers["extra"] == 1


def test_10_the_first_token_counts_as_much_as_a_near_one(answer: Ask):
    # claims.md: 3.5e-2 at t = 1 and 3.3e-2 at T - 10; another seed and width here, so within a factor of 2
    assert 0.5 < answer(10).numbers["attention"] < 2


def test_11_gates_as_they_begin_do_not_keep_the_gradient(answer: Ask):
    found = answer(11)
    assert found.held == (True, False, False, True, False)
    assert found.numbers["rnn"] < 1e-20  # claims.md, T = 100: 0 in float32
    assert found.numbers["gru"] < 1e-10  # claims.md: 4e-21
