"""Questions 114 to 116, 121 and 142 on MiniLM and the page's example; 115 on mini-gpt, which stands in."""

from __future__ import annotations

import numpy as np
import pytest

import models
from inspector import examples, head_distances
from inspector.questions.asking import ask, find
from inspector.questions.record.subject import Subject
from inspector.questions.themes import several_texts
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("number", [114, 115, 116, 121, 142])
def test_a_corrupted_number_changes_the_verdict(number: int, answer: Ask):
    assert find(number).number == number
    assert_corruption_changes_the_verdict(answer(number))


def test_114_heads_look_at_neighbours(answer: Ask):
    assert answer(114).verdict == "true"  # Clark et al. 2019: more than half of a head's weight


def test_115_induction_heads_are_after_the_first_layer(answer: Ask):
    found = answer(115)
    assert found.verdict == "true"
    assert found.measured_on == "mini-gpt"


def test_116_the_first_token_is_a_sink(answer: Ask):
    found = answer(116)
    assert found.verdict == "true"
    assert found.numbers["even"] == pytest.approx(1 / 13)  # an encoder that reads 13 tokens


def test_121_no_other_grouping_of_the_heads_is_as_near(answer: Ask):
    found = answer(121)
    assert found.verdict == "true"
    subject = Subject(models.load("minilm"), examples.FIRST)
    within, across = [], []
    for trace in several_texts.traces(subject):
        distances = head_distances.measure(trace, stream="encoder")
        for one, (layer, _) in enumerate(distances.heads):
            for other, (another, _) in enumerate(distances.heads[:one]):
                (within if layer == another else across).append(distances.values[one, other])
    assert found.numbers["ratio"] == pytest.approx(np.mean(within) / np.mean(across), rel=1e-6)
    assert found.numbers["ratio"] < 0.9 < found.numbers["chance"] < 1


def test_142_no_head_of_minilm_rests_on_marks(answer: Ask):
    found = answer(142)
    assert found.verdict == "false"
    assert found.numbers["even"] < found.numbers["punctuation"] < 0.5


def test_142_a_head_of_mini_bert_zh_rests_on_it():
    assert ask(find(142), Subject(models.load("mini-bert-zh"), "我昨天买了一本新书。")).verdict == "true"


@pytest.mark.parametrize("number", [114, 115, 116, 121, 142])
def test_a_text_of_one_token_is_refused(number: int):
    found = ask(find(number), Subject(models.load("mini-gpt"), "Yes"))
    assert found.verdict is None
    assert "tokens or more, and the text has 1; write more words." in found.problem.en


def test_115_one_word_again_and_again_is_refused():
    found = ask(find(115), Subject(models.load("mini-gpt"), "the the the the"))
    assert found.verdict is None
    assert "4 different tokens" in found.problem.en
