"""Questions 16 to 25 on MiniLM and the page's example, and on random numbers with seed 0."""

from __future__ import annotations

import numpy as np
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


def test_17_a_scaled_variance_is_1_for_independent_entries_alone(answer: Ask):
    found = answer(17)
    assert found.held == (True, False)
    assert found.numbers["drawn_least"] >= 0.97  # one draw of 65,536 for each d_k; 0.995 to 1.005 in the mean
    assert found.numbers["drawn_most"] <= 1.03


def test_18_the_scale_helps_wide_heads_and_not_narrow_ones(answer: Ask):
    found = answer(18)
    assert found.held == (True, True, False, False)
    published = {"wide": 2.9e-4, "wide_scaled": 0.180, "narrow": 0.261, "narrow_scaled": 0.171}  # 64 keys, medians
    for name, value in published.items():
        assert found.numbers[name] == pytest.approx(value, rel=0.5 if name == "wide" else 0.05)
    assert found.numbers["own"] == pytest.approx(0.32, rel=0.05)  # d_k = 32, between 0.329 of 16 and 0.185 of 64


def test_19_the_typical_gradient_vanishes_and_the_mean_spikes(answer: Ask):
    found = answer(19)
    assert found.verdict == "false"
    published = {"mean": 2.03, "median": 6.5e-3, "mean_scaled": 0.18, "median_scaled": 0.17}  # d_k = 1,024
    for name, value in published.items():
        assert found.numbers[name] == pytest.approx(value, rel=0.1)


def test_20_the_inputs_are_large_and_not_the_outputs(answer: Ask):
    found = answer(20)
    assert found.verdict == "false"
    assert found.numbers["weight"] <= 1
    assert found.numbers["score"] > 10


def test_21_the_sum_is_right_and_its_setting_is_not(answer: Ask):
    found = answer(21)
    assert found.held == (True, False, False, False)
    assert found.numbers["weight"] == pytest.approx(np.exp(8) / (np.exp(8) + 63))
    assert found.numbers["more_keys"] == pytest.approx(0.854, abs=5e-4)
    assert found.numbers["drawn"] == pytest.approx(0.794, abs=0.01)
    assert found.numbers["slope"] == pytest.approx(0.0203, abs=5e-5)
    assert found.numbers["even"] == pytest.approx(0.0154, abs=5e-5)


def test_22_ten_is_one_deviation(answer: Ask):
    found = answer(22)
    assert found.verdict == "false"
    assert found.numbers["deviation"] == pytest.approx(10, rel=0.01)
    assert found.numbers["chance"] == pytest.approx(1.5e-23, rel=0.05)


def test_23_narrow_products_have_heavy_tails(answer: Ask):
    found = answer(23)
    assert found.held == (True, False, False)
    assert found.numbers["narrow"] == pytest.approx(6 / 4, abs=0.15)  # kurtosis of a product of normals: 9


def test_24_the_formula_is_right_and_values_go_on_learning(answer: Ask):
    found = answer(24)
    assert found.held == (True, True, False)
    assert found.numbers["difference"] < 1e-7
    assert found.numbers["value_left"] > 0.5


def test_25_the_scale_helps_a_wide_head_and_is_no_normalisation(answer: Ask):
    found = answer(25)
    assert found.held == (True, False, False)
    assert found.numbers["wide_unscaled"] > 10 * found.numbers["wide"]
    assert found.numbers["spread"] > 10


@pytest.mark.parametrize("question", [one for one in THEME.questions if one.whole], ids=lambda one: str(one.number))
def test_a_whole_run_stops_and_its_stored_numbers_bear_it_out(question):
    whole = question.whole
    assert all(part.holds(whole.stored.numbers) for part in whole.parts)

    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        whole.run(None, stop)
