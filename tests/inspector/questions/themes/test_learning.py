"""Questions 108, 111 and 113: schedules, dropout, and the Lab's Transformer from seed 0."""

from __future__ import annotations

import pytest
import torch

from inspector.questions.index import BY_NUMBER
from inspector.questions.themes import learning
from models.training import lab
from models.training.tiny import solvers
from models.training.tiny.words import WORDS
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme

THEME = of_theme("learning")


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_108_warm_up_is_linear_and_not_against_overfitting(answer: Ask):
    found = answer(108)
    assert (found.verdict, found.held) == ("partly", (True, True, False))
    assert found.numbers["post"] > found.numbers["pre"]  # 8 layers, Xiong et al. 2020
    assert min(found.numbers["gap"], found.numbers["gap_without"]) > 1  # both learn their texts by heart
    assert found.numbers["gap_share"] == pytest.approx(1, abs=0.1)


def test_108_a_warm_up_that_never_ends_avoids_overfitting(answer: Ask, monkeypatch: pytest.MonkeyPatch):
    """The part that fails holds where warmed-up networks hardly move."""
    monkeypatch.setattr(lab, "learning_rate", lambda step, *, highest, warmup, **_: 0.0 if warmup else highest)
    numbers = learning._warm_up().numbers
    assert [part.holds(numbers) for part in BY_NUMBER[108].parts] == [True, True, True]


def test_111_the_papers_rate_and_dropout(answer: Ask):
    found = answer(111)
    assert found.verdict == "true"
    assert found.numbers["peak"] == pytest.approx(6.988e-4, rel=1e-4)  # d = 512, step 4,000
    assert found.numbers["kept"] == pytest.approx(1.111, abs=1e-3)
    assert found.numbers["testing"] == 0


def test_113_pretrained_vectors_help_on_unseen_words_alone(answer: Ask):
    found = answer(113)
    assert found.verdict == "true"
    assert found.numbers["seen_random"] > 0.95
    assert found.numbers["unseen_taken"] > 0.5 > found.numbers["unseen_random"]


def test_113_vectors_that_know_nothing_help_nothing(monkeypatch: pytest.MonkeyPatch):
    """The last claim fails where the vectors that are taken are random ones too."""
    generator = torch.Generator().manual_seed(1)
    monkeypatch.setattr(solvers, "trained_embeddings", lambda: torch.randn(len(WORDS), 192, generator=generator))
    numbers = learning._word_vectors().numbers
    assert numbers["unseen_taken"] < 0.3
    assert not BY_NUMBER[113].parts[3].holds(numbers)


@pytest.mark.parametrize("question", [BY_NUMBER[108], BY_NUMBER[113]], ids=["108", "113"])
def test_what_a_training_gave_is_stored(question):
    stored = question.whole.stored
    assert set(stored.numbers) == set(question.whole.numbers)
    assert all(part.holds(stored.numbers) for part in question.whole.parts)
