"""Questions 92 to 95 on MiniLM (d = 384, FFN 1,536) and the page's example."""

from __future__ import annotations

import pytest

from inspector.questions.index import BY_NUMBER
from inspector.questions.record.question import LongExperiment
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme

THEME = of_theme("costs")


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_92_only_scores_and_mix_grow_with_the_square(answer: Ask):
    found = answer(92)
    assert (found.verdict, found.held) == ("conditions", (True, False))
    assert_close(found.numbers["core"], 2, relative=1e-9)
    assert 1 < found.numbers["short"] < 1.5  # 8 n d² is the larger part below n = 2 d


def test_93_the_ffn_costs_more_below_twice_the_width(answer: Ask):
    found = answer(93)
    assert found.verdict == "false"
    assert found.numbers["crossing"] == pytest.approx(2 * 384)  # d_ff = 4 d: n = 2 d
    assert found.numbers["core_512"] == pytest.approx(4 * 512**2 * 384 / (16 * 512 * 384**2))
    assert found.numbers["at_512"] == pytest.approx(0.5 + 512 / (4 * 384))


def test_93_the_clock_ran_once():
    whole = BY_NUMBER[93].whole
    assert isinstance(whole, LongExperiment)
    assert whole.stored is not None
    assert not whole.parts[0].holds(whole.stored.numbers)  # at 32 tokens: 0.4 in claims.md, d = 768
    assert set(whole.stored.numbers) == set(whole.numbers)


def test_94_a_query_needs_no_other_query(answer: Ask):
    found = answer(94)
    assert found.verdict == "false"
    assert found.numbers["alone"] < 1e-5  # float32
    assert found.numbers["fused"] < 0.05  # 4,096 tokens: Q, K, V and the output against three times the scores


def test_95_four_and_eight_d_squared(answer: Ask):
    found = answer(95)
    assert found.verdict == "true"
    assert found.numbers["attention"] == 4 * 384**2
    assert found.numbers["ffn"] == 2 * 384 * 1536
    assert found.numbers["ffn_biased"] / found.numbers["attention_biased"] == pytest.approx(1.998, abs=0.001)
