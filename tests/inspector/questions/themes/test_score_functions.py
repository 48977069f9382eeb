"""Questions 34, 35 and 37 to 40 on MiniLM's first head and the page's example, on counts, and on random numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import models
from inspector.questions.asking import find
from inspector.questions.themes import score_functions
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme
from tests.inspector.questions.worlds import measured, nothing_learns

pytestmark = pytest.mark.heavy

THEME = of_theme("score_functions")


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def test_34_joined_and_summed_are_the_same(answer: Ask):
    found = answer(34)
    assert found.verdict == "true"
    assert found.numbers["naive"] < 5e-6  # claims: 1.2e-7, float32


def test_35_additive_scores_cost_about_three_dot_products(answer: Ask):
    found = answer(35)
    assert found.verdict == "false"
    n, d = 1000, 1024
    assert found.numbers["factorised"] == pytest.approx((4 * n * d**2 + 2 * n**2 * d) / (2 * n**2 * d))  # 3.05
    assert found.numbers["naive"] == pytest.approx(2049)  # claims
    assert found.numbers["doubled"] == pytest.approx(8)  # n d² + n² d, of the third degree
    assert found.numbers["bytes"] == pytest.approx(4.1e9, rel=0.01)  # claims: 4.1 GB


def test_34_the_notes_class_is_the_formula_pair_by_pair(answer: Ask):
    found = answer(34)
    assert found.numbers["shifted"] < 3e-6  # claims.md: 1e-8; float32 weights of other tokens
    assert find(36).number == 34
    torch.manual_seed(0)
    attention = score_functions.NotesAttention(4).double()
    q, k = torch.randn(2, 3, 4, dtype=torch.float64)
    weight, bias, v = (
        tensor.detach().numpy() for tensor in (attention.joined.weight, attention.joined.bias, attention.v.weight[0])
    )
    scores = [[v @ np.tanh(weight @ np.concatenate([a, b]) + bias) for b in k.numpy()] for a in q.numpy()]
    rows = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert_close(attention(q, k).detach().numpy(), rows, relative=1e-12)


def test_34_code_without_the_tanh_is_told(answer: Ask, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(score_functions.torch, "tanh", lambda x: x if x.ndim == 3 else x.tanh())
    numbers, held = measured(34, models.load("mini-bert"))
    assert numbers["code"] > 1e-3
    assert held[1] is False


def test_37_bilinear_and_then_a_softmax(answer: Ask):
    found = answer(37)
    assert found.verdict == "false"
    assert found.numbers["pair"] == pytest.approx(4)
    assert found.numbers["dot"] < 1e-12 < found.numbers["additive"]


def test_38_more_parameters_and_dense_products_too(answer: Ask):
    found = answer(38)
    assert found.held == (True, False, True)
    assert found.numbers["additive"] == 8321  # claims: 2d² + 2d + 1 at d = 64


def test_39_with_the_scale_dot_products_are_as_good_and_without_it_they_are_not(answer: Ask):
    found = answer(39)
    assert (found.verdict, found.held) == ("conditions", (False, True, True))
    assert found.numbers["even_plain"] > 0.9  # d_k = 1,024, 64 keys, 2 seeds
    assert found.numbers["even_additive"] < found.numbers["even_scaled"] < 0.2


def test_39_where_no_network_learns_the_scale_is_not_needed(monkeypatch: pytest.MonkeyPatch):
    nothing_learns(monkeypatch)
    numbers, held = measured(39, models.load("mini-bert"))
    assert min(numbers[name] for name in ("plain", "scaled", "additive")) > 2
    assert held[:2] == [True, True]


def test_40_it_aligns_as_well_and_mixes_worse(answer: Ask):
    found = answer(40)
    assert (found.verdict, found.held) == ("conditions", (True, False, True, True))
    assert found.numbers["parameters"] == 2 * 16**2 + 2 * 16


def test_40_a_head_that_has_not_learned_aligns_by_chance(monkeypatch: pytest.MonkeyPatch):
    nothing_learns(monkeypatch)
    numbers, held = measured(40, models.load("mini-bert"))
    assert numbers["aligned"] < 0.6  # one of six tokens, or one of four digits
    assert held[3] is False


def test_40_what_six_seeds_gave_is_what_the_answer_says():
    whole = find(40).whole
    assert [part.holds(whole.stored.numbers) for part in whole.parts] == [False, True, True]
    assert whole.stored.numbers["encoder_most"] < 0  # additive scores are behind from every seed
    rates = [rate for name, rate in whole.stored.numbers.items() if name.endswith("_rate")]
    assert rates == [score_functions.BEST_RATE] * 4


def test_40_the_whole_run_on_one_rate_and_seed(monkeypatch: pytest.MonkeyPatch, answer: Ask):
    monkeypatch.setattr(score_functions, "RATES", (0.01,))
    monkeypatch.setattr(score_functions, "_SEEDS", 1)
    whole, told = find(40).whole, []
    found = whole.run(None, lambda *step: told.append(step))
    assert told[-1] == (4, 4)
    assert set(found.numbers) == set(whole.numbers)
    for name in ("encoder_dot", "encoder_additive", "aligner_dot", "aligner_additive", "aligned"):
        assert found.numbers[name] == answer(40).numbers[name]


@pytest.mark.parametrize("question", [one for one in THEME.questions if one.whole], ids=lambda one: str(one.number))
def test_a_whole_run_stops_and_its_stored_numbers_are_those_it_judges(question):
    whole = question.whole
    assert {name for part in whole.parts for check in part.checks for name in check.reads} <= set(whole.stored.numbers)

    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        whole.run(None, stop)
