"""Questions 156 to 161: by hand in numpy and torch, and in worlds in which they come out the other way."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

import models
from inspector import examples
from inspector.questions.asking import find
from inspector.questions.record.subject import Subject
from inspector.questions.themes import further
from models.transformer.kv_cache import KeyValue
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme

THEME = of_theme("further")


def parts(number: int, model: str = "mini-gpt") -> list[bool]:
    """Measure a question anew -> for each part whether it holds."""
    question = find(number)
    numbers = question.measure(Subject(models.load(model), examples.FIRST)).numbers
    return [part.holds(numbers) for part in question.parts]


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_156_reach_is_that_of_the_derivative(answer: Ask):
    layers = [nn.Conv1d(1, 1, 3, padding="same", dilation=2**at, dtype=torch.float64) for at in range(3)]
    x = torch.randn(1, 1, 32, dtype=torch.float64, requires_grad=True)
    nn.Sequential(*layers)(x)[0, 0, -1].backward()
    assert int((x.grad != 0).sum()) == 1 + 1 + 2 + 4  # itself and what lies to its left
    assert answer(156).verdict == "true"
    assert answer(156).numbers["dilated"] == math.ceil(math.log2(further.LENGTH))


def test_156_without_dilation_the_second_part_fails(monkeypatch: pytest.MonkeyPatch):
    convolved = further._convolved
    monkeypatch.setattr(further, "_convolved", lambda x, *, dilation: convolved(x, dilation=1))
    assert parts(156)[:3] == [True, False, True]


def test_157_an_rms_norm_keeps_the_mean_and_loses_one_dimension(monkeypatch: pytest.MonkeyPatch, answer: Ask):
    assert answer(157).verdict == "true"
    monkeypatch.setattr(further, "_normed", lambda x: x / x.square().mean(-1, keepdim=True).sqrt())
    assert parts(157)[:2] == [False, False]


def test_158_is_the_row_by_hand(answer: Ask):
    exponentials = np.exp(further.HAND @ further.HAND[1] / np.sqrt(2))
    weights = exponentials / exponentials.sum()
    numbers = answer(158).numbers
    assert_close([numbers["to_love"], numbers["to_water"]], weights[[1, 2]], relative=1e-9)
    assert_close([numbers["first"], numbers["second"]], weights @ further.HAND, relative=1e-9)
    assert answer(158).verdict == "true"


def test_158_fails_with_other_vectors(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(further, "HAND", 2 * further.HAND)
    assert parts(158)[:2] == [False, False]


def test_159_a_single_layer_of_sigmoids_learns_too(monkeypatch: pytest.MonkeyPatch, answer: Ask):
    assert_close(answer(159).numbers["sigmoid"], math.log(2), relative=0.05)  # as good as guessing
    monkeypatch.setattr(further, "DEEP", 1)
    numbers = find(159).measure(Subject(models.load("mini-gpt"), examples.FIRST)).numbers
    assert numbers["sigmoid"] < 0.5 * math.log(2)


def test_160_a_cache_that_forgets_gives_other_logits(monkeypatch: pytest.MonkeyPatch, answer: Ask):
    assert answer(160).verdict == "true"
    assert answer(160).numbers["passes_chunks"] == math.ceil(answer(160).numbers["tokens"] / further.CHUNK)
    append = KeyValue.append

    def blurred(cache: KeyValue, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return append(cache, key, value if cache.length == 0 else 0.5 * value)

    monkeypatch.setattr(KeyValue, "append", blurred)
    assert parts(160)[:2] == [False, False]


def test_161_a_decoders_head_is_linear_and_berts_is_not():
    assert parts(161) == [True, True, True]
    assert parts(161, "mini-bert")[:2] == [False, True]
