"""Questions 150 to 155, in worlds where each sentence holds and where it fails."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from inspector.questions.index import BY_NUMBER
from inspector.questions.record.subject import Subject
from inspector.questions.themes import large_models
from inspector.questions.themes.continued import batch_of, logits_of
from inspector.questions.themes.large_models import EXPERTS, LowRank, Mixture, nucleus, said_again, unevenness
from models.attention import AttentionCall
from models.attention.functions import DotProductAttention
from models.attention.imposing import imposing
from models.attention.masks import WindowMask
from models.transformer.positions import Rotary
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme
from tests.inspector.questions.themes.test_serving import asked, changed

THEME = of_theme("large_models")

TEXT = "The cat sat on the mat."


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


@pytest.mark.parametrize("question", [one for one in THEME.questions if one.whole], ids=lambda one: str(one.number))
def test_a_whole_run_stops(question):
    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        question.whole.run(None, stop)


# --- 150 -----------------------------------------------------------------------------------------------------------


def test_150_a_larger_base_reads_on_and_its_own_does_not(answer: Ask):
    found = answer(150)
    assert (found.verdict, found.held) == ("partly", (False, True, True, True))
    assert found.numbers["tokens"] > 2 * found.numbers["trained"] == 512


def test_150_turning_on_is_turning_by_the_other_base():
    x = torch.randn(1, 2, 40, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    own, other = Rotary(16, base=100.0), Rotary(16, base=5000.0)
    seen: list[AttentionCall] = []

    def compute(call: AttentionCall) -> Tensor:
        seen.append(call)
        return call.value

    large_models.rebased(100.0, 5000.0)(AttentionCall(DotProductAttention(1.0), own(x, 0), own(x, 0), x, None), compute)
    assert_close(seen[0].query, other(x, 0), relative=1e-12)
    assert_close(seen[0].key, other(x, 0), relative=1e-12)
    assert torch.equal(seen[0].value, x)


def test_150_holds_where_a_model_reads_near_tokens_alone(shipped):
    """Within a window of 32 no distance is beyond the trained ones, and its own base is good anywhere."""
    with imposing(lambda tokens: WindowMask(tokens, 32)):
        assert asked(150, Subject(shipped("mini-gpt"), TEXT))[0]


# --- 151, 152 ------------------------------------------------------------------------------------------------------


def test_151_pre_norm_begins_to_learn_first(answer: Ask):
    found = answer(151)
    assert (found.verdict, found.held) == ("partly", (True, False, True))
    assert found.numbers["guessing"] == pytest.approx(np.log(10))


@pytest.mark.heavy
def test_151_holds_where_the_stack_is_deeper_and_fails_without_a_difference(monkeypatch: pytest.MonkeyPatch):
    question = BY_NUMBER[151]
    monkeypatch.setattr(large_models, "QUICK_LAYERS", 12)
    deep = large_models._placed_quickly().numbers
    assert [part.holds(deep) for part in question.parts] == [True, True, True]
    monkeypatch.setattr(large_models, "QUICK_LAYERS", 1)
    flat = large_models._placed_quickly().numbers
    assert not question.parts[1].holds(flat)


def test_152_the_balance_loss_uses_all_experts(answer: Ask):
    found = answer(152)
    assert (found.verdict, found.held) == ("partly", (False, True, False, True))


def test_152_collapses_where_inputs_are_of_one_kind():
    alone = [large_models.routed(balance=0.0, seed=seed, kinds=1) for seed in range(2)]
    assert min(float(one.shares[0]) for one in alone) > 0.5


def test_152_the_balance_loss_is_one_for_an_even_load_and_n_for_one_expert():
    even = torch.full((64, EXPERTS), 1 / EXPERTS)
    assert float(unevenness(even, torch.arange(64) % EXPERTS)) == pytest.approx(1)
    alone = nn.functional.one_hot(torch.zeros(64, dtype=torch.long), EXPERTS).float()
    assert float(unevenness(alone, torch.zeros(64, dtype=torch.long))) == pytest.approx(EXPERTS)


def test_152_an_input_goes_through_the_likeliest_expert():
    torch.manual_seed(0)
    mixture, x = Mixture(), torch.randn(9, large_models.FEATURES)
    made, probabilities, chosen = mixture(x)
    experts = mixture.experts.detach().view(large_models.FEATURES, EXPERTS, -1)
    for row in range(9):
        scores = mixture.router.weight.detach().double() @ x[row].double()
        p = (scores - scores.logsumexp(0)).exp()
        assert int(p.argmax()) == int(chosen[row])
        by_hand = p.max() * (x[row].double() @ experts[:, int(p.argmax())].double())
        assert_close(made[row].detach().double(), by_hand, relative=1e-5)
    assert_close(probabilities.sum(dim=1), torch.ones(9), relative=1e-6)


# --- 153, 154 ------------------------------------------------------------------------------------------------------


def louder(times: float):
    """Change a decoder so that its logits are so many times as large."""

    def change(network: nn.Module) -> None:
        network.final_norm.gamma.mul_(times)

    return change


def test_153_a_low_temperature_does_not_know_more(answer: Ask):
    found = answer(153)
    assert (found.verdict, found.held) == ("partly", (True, True, True, False))


def test_153_holds_for_a_model_that_is_less_sure_than_it_could_be(shipped):
    assert asked(153, changed(shipped("mini-gpt"), louder(0.5))) == (True, True, True, True)


def test_153_loss_at_a_temperature_is_torchs(shipped, answer: Ask):
    subject = Subject(shipped("mini-gpt"), TEXT)
    ids = batch_of(subject)
    logits = logits_of(subject.loaded, ids)[:, :-1].flatten(end_dim=1)
    by_torch = nn.functional.cross_entropy(logits / 0.7, ids[:, 1:].flatten())
    assert_close(answer(153).numbers["loss_low"], float(by_torch), relative=1e-9)


def test_154_top_p_adapts_and_does_not_go_round(answer: Ask):
    found = answer(154)
    assert (found.verdict, found.held) == ("true", (True, True, True, True, True))


def test_154_counts_what_transformers_keeps():
    from transformers import TopPLogitsWarper

    logits = 3 * torch.randn(20, 50, generator=torch.Generator().manual_seed(0))
    kept = TopPLogitsWarper(0.9)(torch.zeros(20, 1, dtype=torch.long), logits).isfinite().sum(dim=1)
    assert nucleus(logits, 0.9).tolist() == kept.tolist()


def test_154_fails_where_a_model_is_never_sure(shipped):
    adapts, *_ = asked(154, changed(shipped("mini-gpt"), louder(0.01)))
    assert not adapts


def test_154_drawn_text_goes_round_where_the_model_is_too_sure(shipped):
    _, _, drawn, *_ = asked(154, changed(shipped("mini-gpt"), louder(20.0)))
    assert not drawn


def test_154_runs_that_are_said_again_by_hand():
    assert said_again([1, 2, 3, 4, 1, 2, 3, 4]) == pytest.approx(1 / 5)
    assert said_again([7] * 8) == pytest.approx(4 / 5)
    assert said_again(list(range(9))) == 0


# --- 155 -----------------------------------------------------------------------------------------------------------


def test_155_a_low_rank_is_not_enough_to_sort(answer: Ask):
    found = answer(155)
    assert (found.verdict, found.held) == ("partly", (False, True, True))


def test_155_holds_for_a_task_that_is_near(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(large_models, "SORTING", {**large_models.SORTING, "task": "copy"})
    numbers = large_models._low_rank().numbers
    assert [part.holds(numbers) for part in BY_NUMBER[155].parts] == [True, True, True]


def test_155_trains_the_correction_alone():
    base = large_models._trained(0, steps=2)
    low = large_models.with_low_rank(base, 2)
    before = {name: weight.clone() for name, weight in low.named_parameters()}
    large_models.tuned(low, task="sort", steps=2, rate=0.01, seed=0)
    moved = {name for name, weight in low.named_parameters() if not torch.equal(weight, before[name])}
    assert moved
    assert all(name.endswith(("down", "up")) for name in moved)


def test_155_the_merged_layer_is_the_sum():
    torch.manual_seed(0)
    layer = LowRank(nn.Linear(6, 5), 2)
    layer.up.data.normal_()
    weight = layer.frozen.weight.double() + layer.up.double() @ layer.down.double()
    assert_close(layer.merged().weight.double(), weight, relative=1e-6)
    assert np.linalg.matrix_rank((layer.merged().weight - layer.frozen.weight).detach().numpy(), tol=1e-5) == 2
