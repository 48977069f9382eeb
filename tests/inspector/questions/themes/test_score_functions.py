"""Questions 34 to 40 on MiniLM's first head and the page's example, on counts, and on random numbers."""

from __future__ import annotations

import pytest

from inspector.questions.themes.score_functions import THEME
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_34_joined_and_summed_are_the_same(answer: Ask):
    found = answer(34)
    assert found.verdict == "true"
    assert found.numbers["naive"] < 5e-6  # claims: 1.2e-7, float32


def test_35_additive_scores_cost_about_three_dot_products(answer: Ask):
    found = answer(35)
    assert found.verdict == "false"
    n, d = 1000, 1024
    assert found.numbers["factorised"] == pytest.approx((4 * n * d**2 + 2 * n**2 * d) / (2 * n**2 * d))  # 3.05
    assert found.numbers["naive"] == pytest.approx(2049)  # claims
    assert found.numbers["doubled"] == pytest.approx(8)  # n d² + n² d, of the third degree
    assert found.numbers["bytes"] == pytest.approx(4.1e9, rel=0.01)  # claims: 4.1 GB


def test_36_the_code_is_the_formula_and_the_bias_of_v_is_dead(answer: Ask):
    found = answer(36)
    assert found.verdict == "true"
    assert found.numbers["shifted"] < 3e-6  # claims: 1e-8; float32 weights of other tokens


def test_37_bilinear_and_then_a_softmax(answer: Ask):
    found = answer(37)
    assert found.verdict == "false"
    assert found.numbers["pair"] == pytest.approx(4)
    assert found.numbers["dot"] < 1e-12 < found.numbers["additive"]


def test_38_more_parameters_and_dense_products_too(answer: Ask):
    found = answer(38)
    assert found.held == (True, False, True)
    assert found.numbers["additive"] == 8321  # claims: 2d² + 2d + 1 at d = 64


def test_39_unscaled_dot_products_saturate_where_additive_scores_do_not(answer: Ask):
    found = answer(39)
    assert found.verdict == "false"
    assert found.numbers["dot"] > 0.9  # d_k = 1,024, 64 keys, 2 seeds
    assert found.numbers["additive"] < found.numbers["scaled"] < 0.2


def test_40_cheap_where_small_and_slower_to_learn(answer: Ask):
    found = answer(40)
    assert found.held == (True, True, False)
    assert found.numbers["parameters"] == 2 * 16**2 + 2 * 16


@pytest.mark.parametrize("question", [one for one in THEME.questions if one.whole], ids=lambda one: str(one.number))
def test_a_whole_run_stops_and_its_stored_numbers_are_those_it_judges(question):
    whole = question.whole
    assert {name for part in whole.parts for check in part.checks for name in check.reads} <= set(whole.stored.numbers)

    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        whole.run(None, stop)
