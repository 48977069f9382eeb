"""Questions 103 to 107, 109 and 110 on MiniLM or mini-bert and the page's example."""

from __future__ import annotations

import numpy as np
import pytest
from torch import nn

import models
from inspector import examples, long_texts
from inspector.probe import record
from inspector.questions.themes import bert
from inspector.vocabularies import dictionary
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme
from tests.inspector.questions.worlds import ask, made, scaled

THEME = of_theme("bert")


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
    assert found.numbers["words"] == 10  # the full stop is none
    assert found.numbers["unknown_words"] == 0.1  # mat
    assert found.numbers["listed"] > 10_000


def test_104_chinese_is_cut_into_words():
    found = ask(104, "mini-bert-zh", "我昨天买了一本新书。")
    assert found.held == (True, False, True)  # by characters, as the model reads
    assert (found.numbers["words"], found.numbers["characters"]) == (7, 10)
    assert found.numbers["unknown_words"] == 0


def test_104_a_list_that_holds_every_word_leaves_none_unknown(monkeypatch: pytest.MonkeyPatch):
    every = frozenset(word.lower() for word in dictionary.words(long_texts.PAGES["pride"].text))
    monkeypatch.setattr(dictionary, "vocabulary", lambda script: every)
    assert not ask(104, "minilm").held[0]


def test_105_eighty_ten_ten(answer: Ask):
    found = answer(105)
    assert found.verdict == "true"
    assert found.numbers["masked"] == pytest.approx(0.12, abs=0.005)  # claims.md: 12.0, 1.5 and 1.5 %
    assert found.numbers["random"] + found.numbers["kept"] == pytest.approx(0.03, abs=0.005)


def test_106_cls_is_no_average_of_the_others(answer: Ask):
    found = answer(106)
    assert found.held[:2] == (True, False)
    assert found.numbers["miss"] > 0.5
    assert found.numbers["cls"] >= found.numbers["mean"]  # MiniLM was tuned for the mean


def test_106_nobody_is_fairer_where_all_keys_get_alike_and_no_place_is_known():
    def blind(network: nn.Module) -> None:
        network.get_parameter("embedding.positions.table").zero_()

    found = ask(106, made("minilm-own", scaled("query", by=0)))
    assert not found.held[2]
    assert_close(found.numbers["even"], 0, relative=1e-6, scale=1)  # of an even row
    assert not ask(106, made("minilm-own", blind)).held[3]


def test_106_evenness_is_the_entropy_of_the_row():
    trace = record(models.load("minilm"), examples.FIRST)
    words = [at for at, special in enumerate(trace.encoding.special) if not special]
    rows = {row: [] for row in (0, *words)}
    for site in trace.sites:
        for head in range(site.heads):
            weights = trace.attention(layer=site.layer, head=head)
            for row, found in rows.items():
                p = np.array([weights[row, key] for key in words], dtype=float)
                found.append(float(-(p / p.sum() * np.log(p / p.sum())).sum() / np.log(len(words))))
    want = np.mean(rows[0]) - np.mean([rows[row] for row in words])
    assert_close(bert._even_in(trace), want, relative=1e-4)


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
