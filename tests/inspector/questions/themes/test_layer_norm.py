"""Questions 51, 52, 54 and 60 to 65 on MiniLM and the page's example; small trainings start from seed 0."""

from __future__ import annotations

import pytest

from inspector.questions.themes.layer_norm import THEME
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_51_each_token_has_a_mean_and_a_deviation(answer: Ask):
    found = answer(51)
    assert found.verdict == "true"
    assert found.numbers["pairs"] == 1600  # [16, 100, 512]
    assert found.numbers["gamma"] == 384
    assert found.numbers["difference"] < 1e-5


def test_52_a_sample_is_a_token_and_no_sentence(answer: Ask):
    found = answer(52)
    assert found.verdict == "depends"
    assert found.held == (True, False)
    assert found.numbers["sentence"] > 0.1


def test_54_standardised_is_not_normal(answer: Ask):
    found = answer(54)
    assert found.verdict == "false"
    # exponential numbers keep their skew: 1.96 in claims.md, of one vector; 2 of the distribution
    assert found.numbers["skew"] == pytest.approx(1.96, abs=0.1)
    assert found.numbers["kurtosis"] > 10
    assert found.numbers["deviation"] < 0.9


def test_60_each_norm_keeps_its_own_order(answer: Ask):
    found = answer(60)
    assert found.verdict == "true"
    # tau within a token 1.000 of LayerNorm, .573 of BatchNorm on random numbers; across tokens .809 and 1.000
    assert found.numbers["layer_within"] == pytest.approx(1, abs=1e-3)
    assert found.numbers["batch_within"] < 0.9
    assert found.numbers["batch_across"] == pytest.approx(1, abs=1e-3)
    assert found.numbers["layer_across"] < 0.99
