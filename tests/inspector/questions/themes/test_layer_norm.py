"""Questions 51, 52, 54 and 60 to 65 on MiniLM and the page's example; small trainings start from seed 0."""

from __future__ import annotations

import pytest

import models
from inspector import examples
from inspector.questions.record.subject import Subject
from inspector.questions.themes.layer_norm import BEST, THEME
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
    assert found.verdict == "conditions"
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


def test_61_attention_mixes_tokens_and_ffn_and_norm_do_not(answer: Ask):
    found = answer(61)
    assert found.verdict == "partly"  # claims.md: F for attention, T for FFN and LayerNorm
    assert found.held == (False, False, True)
    assert found.numbers["ffn"] == found.numbers["layer"] == 0  # off-token Jacobian
    assert found.numbers["attention"] > 0.5  # .83 there, BatchNorm 1.6; here other sizes and Glorot
    assert found.numbers["batch"] > found.numbers["attention"]


def test_62_norms_hold_scale_and_gradient(answer: Ask):
    found = answer(62)
    assert found.verdict == "true"
    assert found.numbers["scaled"] < 1.3e-5  # LN(1000 x) - LN(x), there in float32
    assert 0.01 < found.numbers["growing"] < 100 < found.numbers["growing_without"]
    assert found.numbers["fading_without"] < 1e-5 < 0.01 < found.numbers["fading"]


def test_63_less_drift_is_not_a_lower_loss(answer: Ask):
    found = answer(63)
    assert found.verdict == "partly"
    assert found.held == (True, False)
    assert found.measured_on is None


def test_64_layer_norm_computes_the_same_in_any_batch(answer: Ask):
    found = answer(64)
    assert found.verdict == "partly"
    assert found.held == (True, False)
    assert found.numbers["layer"] == 0


def test_65_layer_norm_is_not_ahead_of_batch_norm_on_digits(answer: Ask):
    found = answer(65)
    assert found.verdict == "partly"
    assert found.held == (False, True)


def test_65_the_stored_run_finds_no_norm_clearly_ahead_and_can_be_stopped():
    whole = BEST.whole
    assert whole is not None
    assert whole.stored is not None
    assert [part.holds(whole.stored.numbers) for part in whole.parts] == [False, False]
    assert set(whole.stored.numbers) == set(whole.numbers)
    told = []

    def stop(done: int, total: int) -> None:
        told.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        whole.run(Subject(models.load("minilm"), examples.FIRST), stop)
    assert told == [(10, 1800)]  # three norms, three seeds, 200 steps; a report is every 10
