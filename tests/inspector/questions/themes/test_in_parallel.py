"""Questions 96 to 102 on mini-gpt, which stands in for MiniLM, and the page's example."""

from __future__ import annotations

import pytest

from inspector.questions.index import BY_NUMBER
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme

THEME = of_theme("in_parallel")

STEPS = 8


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_96_a_chain_grows_in_an_lstm_alone(answer: Ask):
    found = answer(96)
    assert found.verdict == "true"
    assert found.numbers["lstm"] == pytest.approx(2, abs=0.1)  # 32 tokens against 16
    assert found.numbers["block"] == 1


def test_97_one_pass_is_step_by_step(answer: Ask):
    found = answer(97)
    assert found.verdict == "true"
    assert found.numbers["difference"] < 1e-5  # float32; claims.md: 3e-13 in float64
    assert found.numbers["passes"] == STEPS


def test_98_the_cache_is_exact(answer: Ask):
    found = answer(98)
    assert found.verdict == "true"
    assert found.numbers["cached"] < 1e-5
    assert found.numbers["saved"] > 3  # 8 tokens; 16.6 at 32 in claims.md


def test_99_a_step_is_linear_and_a_text_is_not(answer: Ask):
    found = answer(99)
    assert (found.verdict, found.held) == ("partly", (True, True, False))
    layers, width = 4, 192
    assert found.numbers["uncached_bend"] == 2 * 4 * layers * width  # scores and mix: 4 n² d a layer, twice its factor
    assert found.numbers["text_bend"] == 4 * layers * width


def test_100_training_saves_nothing_and_an_encoder_may_not(answer: Ask):
    found = answer(100)
    assert found.verdict == "false"
    assert found.numbers["training"] == pytest.approx(1.04, abs=0.05)  # 9.05e8 / 8.72e8 in claims.md
    assert found.numbers["encoder"] > 0.01  # claims.md: .02 to .03
    assert found.numbers["decoder"] < 1e-5


def test_101_old_queries_are_never_read(answer: Ask):
    found = answer(101)
    assert found.verdict == "true"
    assert found.numbers["queries"] == 0
    assert found.numbers["keys"] == STEPS * (STEPS - 1) / 2


def test_102_memory_is_linear_and_as_counted(answer: Ask):
    found = answer(102)
    assert found.verdict == "true"
    assert found.numbers["kept"] == 2 * 4 * STEPS * 2 * 32 * 4  # 2 L n K E, 4 bytes each


@pytest.mark.parametrize("question", [BY_NUMBER[96], BY_NUMBER[98]], ids=["96", "98"])
def test_what_the_clock_gave_is_stored(question):
    assert question.whole.stored is not None
    assert set(question.whole.stored.numbers) == set(question.whole.numbers)
    assert all(part.holds(question.whole.stored.numbers) for part in question.whole.parts)
