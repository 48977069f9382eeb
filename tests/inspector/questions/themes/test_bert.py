"""Questions 103 to 107, 109 and 110 on MiniLM or mini-bert and the page's example."""

from __future__ import annotations

import pytest

from inspector.questions.themes.bert import THEME
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_103_a_later_token_moves_earlier_ones_in_an_encoder(answer: Ask):
    found = answer(103)
    assert found.verdict == "true"
    assert found.numbers["encoder"] > 0.01
    assert found.numbers["decoder"] < 1e-5  # float32


def test_104_english_bert_reads_pieces(answer: Ask):
    found = answer(104)
    assert (found.verdict, found.held) == ("partly", (True, True, False))
    assert found.numbers["characters"] == len(
        "The cat sat on the mat because it was tired."
    )  # the space is a character
    assert found.numbers["vocabulary"] == 30522


def test_105_eighty_ten_ten(answer: Ask):
    found = answer(105)
    assert found.verdict == "true"
    assert found.numbers["masked"] == pytest.approx(0.12, abs=0.005)  # claims.md: 12.0, 1.5 and 1.5 %
    assert found.numbers["random"] + found.numbers["kept"] == pytest.approx(0.03, abs=0.005)


def test_106_cls_is_no_average_of_the_others(answer: Ask):
    found = answer(106)
    assert (found.verdict, found.held) == ("partly", (True, False))
    assert found.numbers["miss"] > 0.5
    assert found.numbers["cls"] >= found.numbers["mean"]  # MiniLM was tuned for the mean


def test_107_the_product_alone_is_cubic(answer: Ask):
    found = answer(107)
    assert (found.verdict, found.held) == ("partly", (True, False, False))
    assert_close(found.numbers["without"], 8, relative=1e-6)  # f(2x) / f(x) of claims.md
    assert found.numbers["norm"] == pytest.approx(1, abs=1e-3)


def test_109_a_document_does_not_fit(answer: Ask):
    found = answer(109)
    assert (found.verdict, found.held) == ("partly", (True, True, True, False))
    assert found.numbers["limit"] == 512
    assert found.numbers["first"] == pytest.approx(510 / found.numbers["document"])


def test_110_bpe_takes_the_most_frequent_pair(answer: Ask):
    found = answer(110)
    assert found.verdict == "true"
    assert found.numbers["frequent"] == 1
