"""Questions 74 to 82 on MiniLM and the page's example, on stand-ins, and on tables and random numbers with seed 0."""

from __future__ import annotations

import numpy as np
import pytest

import models
from inspector import positional
from inspector.questions import Subject, asking
from inspector.questions.themes import positions
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme
from tests.inspector.questions.worlds import measured

THEME = of_theme("positions")


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_74_an_encoder_without_positions_is_blind_to_order(answer: Ask):
    found = answer(74)
    assert (found.verdict, found.held) == ("conditions", (True, True, False))
    assert found.numbers["without"] < 1e-5  # float32; 1.6e-15 in float64
    assert found.numbers["with"] > 0.1
    assert found.numbers["causal"] > 0.1  # a decoder without positions is not blind


def test_75_the_table_is_the_formula(answer: Ask):
    found = answer(75)
    assert found.verdict == "true"
    assert found.measured_on == "own-encoder"
    assert found.numbers["off"] < 1e-6  # float32
    assert found.held == (True, True, True, True)


def test_75_a_formula_of_another_base_is_told(monkeypatch: pytest.MonkeyPatch):
    """Tables that run over d/2 − 1, as M2M100's does, in the place of DistilBERT's fail the part."""
    tables = positions._of_libraries()
    monkeypatch.setattr(positions, "_of_libraries", lambda: {**tables, "distilbert": tables["m2m100"]})
    numbers, held = measured(75, models.load("own-encoder"))
    assert held == [True, False, True, True]
    assert numbers["distilbert"] > 1


def test_75_tables_are_held_to_the_formula_to_three_digits():
    table = positional.sinusoidal(positions.ROWS, positions.WIDTH)
    assert positions.abs_off(table) < 1e-12
    assert positions.abs_off(table * 1.001) > 1e-4


def test_76_a_rotation_shifts_and_a_fit_does_not_carry(answer: Ask):
    found = answer(76)
    assert found.verdict == "true"
    assert found.numbers["turned"] < 2e-13  # 512 positions, 128 dimensions: 1.1e-13 with another k
    assert found.numbers["unseen"] > 0.1  # of the rows' size


def test_77_products_depend_on_the_distance(answer: Ask):
    found = answer(77)
    assert found.verdict == "true"
    assert found.numbers["spread"] < 1.3e-12
    frequencies = 10_000.0 ** (-np.arange(64) / 64)
    products = np.cos(np.arange(512)[:, None] * frequencies).sum(axis=1)  # the closed form, by distance
    assert found.numbers["rises"] == (np.diff(products) > 0).sum()


def test_78_a_formula_is_defined_farther_than_a_model_reads(answer: Ask):
    found = answer(78)
    assert found.verdict == "partly"
    assert found.held == (True, False)
    assert found.numbers["beyond"] > 1.1 * found.numbers["windows"]  # mini-gpt, 512 tokens for 256


def test_79_a_learned_table_ends(answer: Ask):
    found = answer(79)
    assert found.verdict == "true"
    assert found.numbers["rows"] == 512
    assert found.numbers["raised"] == 1  # 513 tokens
    assert found.numbers["read"] == 1


def test_80_a_small_embedding_is_disturbed_and_a_scaled_one_less(answer: Ask):
    found = answer(80)
    assert found.verdict == "conditions"
    assert found.numbers["bare"] == pytest.approx(0.062, abs=0.005)  # N(0, 1/d), d = 512
    assert found.numbers["scaled"] == pytest.approx(0.816, abs=0.005)  # times sqrt(d)
    assert found.numbers["scaled"] == pytest.approx((1 / 1.5) ** 0.5, abs=0.005)  # |x|^2 = d, |PE|^2 = d / 2


def test_81_the_relative_kinds_know_the_distance_alone(answer: Ask):
    found = answer(81)
    assert found.verdict == "true"
    assert found.numbers["rope"] < 3.6e-14


def test_82_positions_stand_in_for_recurrence(answer: Ask):
    found = answer(82)
    assert found.verdict == "true"
    assert found.numbers["steps"] == 1
    assert found.numbers["waits"] > 1


@pytest.mark.parametrize("model", ["mini-gpt", "translator", "own-encoder"])
def test_another_model_gets_an_answer_or_a_sentence(model: str):
    subject = Subject(models.load(model), "Yes")
    for question in THEME.questions:
        found = asking.ask(question, subject)
        assert found.verdict or found.problem
