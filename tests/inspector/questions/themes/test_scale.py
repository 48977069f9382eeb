"""Questions 16 to 25 on MiniLM and the page's example, and on random numbers with seed 0."""

from __future__ import annotations

import math

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


def test_17_scaled_variance_is_1_at_every_width(answer: Ask):
    found = answer(17)
    assert found.verdict == "true"
    assert found.numbers["smallest"] > 0.97  # claims: 0.995 to 1.005 of more pairs; here 65,536 a width
    assert found.numbers["largest"] < 1.03


def test_18_wide_rows_saturate_and_narrow_ones_do_not(answer: Ask):
    found = answer(18)
    assert found.verdict == "depends"
    assert found.held == (True, False, True)
    assert found.numbers["narrow"] == pytest.approx(0.261 / 0.171, rel=0.05)  # claims, 64 keys
    assert found.numbers["wide"] == pytest.approx(3.3e-3 / 0.180, rel=0.3)
    assert 64 < found.numbers["crossover"] < 128


def test_19_the_typical_gradient_is_smaller_without_the_scale(answer: Ask):
    found = answer(19)
    assert found.verdict == "false"
    assert found.numbers["without"] == pytest.approx(6.5e-3, rel=0.2)  # claims, d_k = 1,024, medians
    assert found.numbers["with"] == pytest.approx(0.17, rel=0.1)
    assert found.numbers["mean_without"] == pytest.approx(2.03, rel=0.1)  # the mean alone is larger: few rows spike


def test_20_outputs_sum_to_1_whatever_goes_in(answer: Ask):
    found = answer(20)
    assert found.verdict == "false"
    assert found.numbers["largest"] <= 1 + 1e-12
    assert found.numbers["sum_without"] == pytest.approx(1)


def test_21_the_arithmetic_holds_and_the_setup_does_not(answer: Ask):
    found = answer(21)
    assert found.held == (True, False, False)
    assert found.numbers["weight"] == pytest.approx(math.exp(8) / (math.exp(8) + 63))
    assert found.numbers["many"] == pytest.approx(0.854, abs=0.001)
    assert found.numbers["largest"] == pytest.approx(0.794, abs=0.01)


def test_22_ten_is_one_sigma(answer: Ask):
    found = answer(22)
    assert found.verdict == "false"
    assert found.numbers["sigmas"] == pytest.approx(1, abs=0.02)  # seed 0
    assert found.numbers["ten"] == pytest.approx(1.5e-23, rel=0.05)


def test_23_normal_in_the_limit_alone(answer: Ask):
    found = answer(23)
    assert found.held == (True, False, False)
    assert found.numbers["narrow"] == pytest.approx(6 / 4, abs=0.3)  # 3 · 3 − 3 over d_k


def test_24_values_learn_where_the_softmax_is_saturated(answer: Ask):
    found = answer(24)
    assert found.held == (True, True, False)
    assert found.numbers["apart"] < 1e-7


def test_25_a_constant_is_no_normalisation(answer: Ask):
    found = answer(25)
    assert found.held == (True, False)
    assert found.numbers["larger"] == pytest.approx(9, rel=0.05)  # 3² times a variance of 1


@pytest.mark.parametrize("question", [one for one in THEME.questions if one.whole], ids=lambda one: str(one.number))
def test_a_whole_run_stops_and_its_stored_numbers_bear_it_out(question):
    whole = question.whole
    assert all(part.holds(whole.stored.numbers) for part in whole.parts)

    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        whole.run(None, stop)
