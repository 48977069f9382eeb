"""Questions 53, 55 to 59 and 66 on MiniLM, the page's example and seven sentences, before the middle norm."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import models
from inspector import examples
from inspector.questions.record.subject import Subject
from inspector.questions.themes import batch_norm
from inspector.questions.themes.batch_norm import notes_batch
from inspector.questions.themes.together import read_of, together
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme
from tests.inspector.questions.worlds import measured

THEME = of_theme("batch_norm")


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_53_batch_norm_pools_texts_and_positions(answer: Ask):
    found = answer(53)
    assert found.verdict == "conditions"
    assert found.held == (True, False, True, True)
    assert found.numbers["pooled"] < 1e-10  # nn.BatchNorm1d pools N and T: a difference of 0, in float64


def test_55_padding_moves_batch_norm_alone(answer: Ask):
    found = answer(55)
    assert found.verdict == "true"
    assert found.numbers["batch"] > 1  # 20 columns of zeros: a drift of 3.0 in claims.md, of other lengths
    assert found.numbers["layer"] == found.numbers["masked"] == 0


def test_56_late_positions_have_one_sample(answer: Ask):
    found = answer(56)
    assert found.verdict == "true"
    assert found.held == (True, True, True)
    assert (found.numbers["texts"], found.numbers["fifth"], found.numbers["alone"]) == (10, 10, 15)  # the note's
    assert found.numbers["deviation"] == 0
    assert found.numbers["pooled"] == 9 * 5 + 20


@pytest.mark.parametrize("model", ["mini-gpt", "mini-bert-zh"])
def test_56_every_text_has_the_notes_tokens(model: str):
    batch = notes_batch(Subject(models.load(model), "A cat."))
    assert batch.keep.sum(axis=1).tolist() == [5] * 9 + [20]


def test_56_texts_of_one_length_leave_no_position_with_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batch_norm, "LENGTHS", (5,) * 10)
    numbers, held = measured(56, models.load("mini-bert"))
    assert numbers["alone"] == 0
    assert held == [False, False, True]


def test_57_the_mean_moves_by_the_root_of_the_batch(answer: Ask):
    found = answer(57)
    assert found.verdict == "true"
    # of independent numbers 1, 0.5, 0.25, 0.125 at 1, 4, 16 and 64: the ratios hold, tokens of a text are alike
    assert found.numbers["one"] / found.numbers["four"] == pytest.approx(2, rel=0.1)
    assert found.numbers["sixteen"] / found.numbers["sixty_four"] == pytest.approx(2, rel=0.1)
    assert found.numbers["raised"] == 1


def test_58_a_step_has_thousands_of_tokens(answer: Ask):
    found = answer(58)
    assert found.verdict == "false"
    assert found.held == (False, False, True, True)
    # By the root of the batch, as question 57 has it: 25,000 tokens are 12 times 2,048.
    assert found.numbers["vaswani"] / found.numbers["mini"] == pytest.approx((2048 / 25_000) ** 0.5, rel=0.15)


def test_58_steps_of_a_hundred_tokens_would_be_noisy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batch_norm, "STEPS_OF", {"mini": 100, "vaswani": 100, "bert": 100})
    assert measured(58, models.load("mini-bert"))[1][:3] == [True, True, False]


def test_59_running_averages_are_those_of_other_texts(answer: Ask):
    found = answer(59)
    assert found.verdict == "true"
    assert found.numbers["layer"] == 0  # LayerNorm: training equals inference exactly


def test_the_readers_text_stands_first_in_the_batch():
    subject = Subject(models.load("minilm"), examples.FIRST)
    batch = together(subject)
    norms = subject.trace.norms
    alone = norms[len(norms) // 2].input
    assert_close(batch.x[0][batch.keep[0]], alone, relative=1e-5)  # padding is masked in attention
    assert batch.empty[~batch.keep].max() == 0


def test_66_batch_norm_folds_away_and_is_alone_in_inference(answer: Ask):
    found = answer(66)
    assert found.verdict == "conditions"
    assert found.held == (True, True, False)
    assert found.numbers["folded"] < 1e-12  # in float64
    assert found.numbers["running"] == 0


def test_55_is_what_torch_computes(answer: Ask):
    batch = together(Subject(models.load("minilm"), examples.FIRST))
    real, before = torch.tensor(batch.keep), torch.tensor(batch.empty)
    made = []
    for x in (before, nn.functional.pad(before, (0, 0, 0, 20))):
        norm = nn.BatchNorm1d(x.shape[-1], eps=batch.epsilon, affine=False).double().train()
        made.append(norm(x.transpose(1, 2)).transpose(1, 2)[:, : real.shape[1]][real])
    assert answer(55).numbers["batch"] == pytest.approx(float((made[1] - made[0]).abs().max()))


def test_of_a_long_text_the_part_that_was_read_stands_in_the_batch():
    long = "The old house stood on the hill. " * 40
    subject = Subject(models.load("minilm"), long)
    assert read_of(subject) == long[: len(read_of(subject))]
    assert together(subject).keep[0].sum() == 128
