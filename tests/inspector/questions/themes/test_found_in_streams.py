"""Questions 126 to 132 and 138 to 141 on MiniLM and the page's example, or on the model that stands in."""

from __future__ import annotations

import pytest

import models
from inspector.questions import Subject, asking
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme

THEME = of_theme("found_in_streams")


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
    assert found.numbers["share"] < 1e-5
    assert [weight.sum().item() for weight in weights.parameters()] == before  # the shared model is as it was


def test_126_attention_alone_loses_its_rank(answer: Ask):
    found = answer(126)
    assert found.verdict == "true"
    assert found.numbers["alone"] == pytest.approx(0.0026, rel=0.05)  # by the audit's own code: .003
    assert found.numbers["beside"] > 0.2 > 0.01 > found.numbers["any"]


def test_127_minilm_has_large_activations_and_no_massive_ones(answer: Ask):
    found = answer(127)
    assert found.verdict == "partly"
    assert found.held == (False, True, True)
    assert 100 < found.numbers["largest"] < 1000 * found.numbers["largest"] / found.numbers["times"]


def test_128_one_dimension_is_the_largest_nearly_everywhere(answer: Ask):
    found = answer(128)
    assert found.verdict == "true"
    assert found.numbers["same"] == pytest.approx(10 / 12)  # the norms of the layers: dimension 99
    assert found.numbers["part"] == found.numbers["outliers"] / 384


def test_129_minilms_cone_is_wide(answer: Ask):
    found = answer(129)
    assert found.verdict == "partly"
    assert found.held == (True, False, False, True)  # it was trained to tell sentences apart by their direction
    assert 0.05 < found.numbers["smallest"] < 0.3


def test_130_most_of_a_state_is_kept(answer: Ask):
    found = answer(130)
    assert found.verdict == "true"
    assert found.numbers["mixing"] < 0.4 < 0.8 < found.numbers["weights"]


def test_131_tokens_are_told_from_their_last_states(answer: Ask):
    found = answer(131)
    assert found.verdict == "true"
    assert found.numbers["last"] > 0.9
    assert found.numbers["chance"] == pytest.approx(1 / 13)


def test_132_layernorm_makes_a_sphere_and_gamma_an_ellipsoid(answer: Ask):
    found = answer(132)
    assert found.verdict == "partly"
    assert found.held == (True, True, False)
    assert found.numbers["shortest"] == pytest.approx(1, abs=1e-4)
    assert found.numbers["ratio"] > 1.1


@pytest.mark.parametrize("model", ["mini-gpt", "translator", "own-encoder"])
@pytest.mark.parametrize("text", ["Yes", "the the the the"])
@pytest.mark.heavy
def test_another_model_gets_an_answer_or_a_sentence(model: str, text: str):
    subject = Subject(models.load(model), text)
    for question in THEME.questions:
        found = asking.ask(question, subject)
        assert found.verdict or found.problem


def test_138_fewer_units_than_half_answer_and_more_than_in_a_large_model(answer: Ask):
    found = answer(138)
    assert (found.verdict, found.held) == ("partly", (True, False, False))
    assert 0.1 < found.numbers["positive"] < 0.4  # 3.0 % of T5-Base in Li et al. 2023


def test_139_predictions_form_over_the_layers(answer: Ask):
    found = answer(139)
    assert found.held[0]
    assert found.numbers["first"] < found.numbers["before"] < 1


def test_140_rope_falls_and_swings(answer: Ask):
    found = answer(140)
    assert (found.verdict, found.held) == ("partly", (True, True, False))
    assert found.numbers["bound"] < found.numbers["product"] < 1  # 64 tokens apart, 16 pairs
