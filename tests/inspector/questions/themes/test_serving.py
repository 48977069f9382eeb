"""Questions 144 to 149 on MiniLM's stand-in, in worlds where each sentence holds and where it fails."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import models
from inspector import examples
from inspector.questions.index import BY_NUMBER
from inspector.questions.record.subject import Subject
from inspector.questions.themes import serving
from inspector.questions.themes.continued import batch_of, logits_of, loss
from inspector.questions.themes.serving import SRAM, tile_sizes, tiled, tiled_moves, whole_moves
from models import LoadedModel
from models.attention import editing
from models.decoding import Decoding
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict, of_theme

THEME = of_theme("serving")

TEXT = "The cat sat on the mat."


@pytest.mark.parametrize("question", THEME.questions, ids=lambda question: str(question.number))
def test_a_corrupted_number_changes_the_verdict(question, answer: Ask):
    assert_corruption_changes_the_verdict(answer(question.number))


def changed(loaded: LoadedModel, change: Callable[[nn.Module], object]) -> Subject:
    """A subject whose model is a copy of the project's decoder with other weights."""
    network = deepcopy(loaded.network)
    with torch.no_grad():
        change(network)
    runner = replace(loaded.runner, network=network, head=network)
    return Subject(replace(loaded, network=network, runner=runner), TEXT)


def asked(number: int, subject: Subject) -> tuple[bool, ...]:
    """Tell which parts of a question hold, of a subject with nothing cached."""
    question = BY_NUMBER[number]
    numbers = question.measure(subject).numbers
    return tuple(part.holds(numbers) for part in question.parts)


def alike(network: nn.Module) -> None:
    """Give the second head of keys and values the weights of the first, in every layer."""
    for layer in network.layers:
        for linear in (layer.attention.key, layer.attention.value):
            half = len(linear.weight) // 2
            linear.weight[half:] = linear.weight[:half]


# --- 144, 145 ------------------------------------------------------------------------------------------------------


def test_144_averaging_harms_a_trained_model(answer: Ask):
    found = answer(144)
    assert (found.verdict, found.held) == ("partly", (True, False, False))
    assert found.numbers["averaged"] > 1.4 * found.numbers["loss"]


def test_144_averaging_heads_is_averaging_their_matrices(shipped):
    def averaged(network: nn.Module) -> None:
        for layer in network.layers:
            for linear in (layer.attention.key, layer.attention.value):
                heads = linear.weight.unflatten(0, (2, -1))
                linear.weight[:] = heads.mean(dim=0).repeat(2, 1)

    loaded = shipped("mini-gpt")
    numbers = BY_NUMBER[144].measure(Subject(loaded, TEXT)).numbers
    world = changed(loaded, averaged)
    assert_close(numbers["averaged"], loss(world.loaded, batch_of(world)), relative=1e-4)


def test_144_holds_where_the_heads_of_a_group_are_alike(shipped):
    assert asked(144, changed(shipped("mini-gpt"), alike))[:2] == (True, True)


def test_145_a_latent_keeps_more_than_one_head(answer: Ask):
    found = answer(145)
    assert (found.verdict, found.held) == ("true", (True, True, False, True))
    assert found.numbers["groups"] == 2.25
    assert (found.numbers["kept"], found.numbers["full"]) == (2 * 32, 2 * 2 * 32)


def test_145_directions_are_those_of_the_covariance():
    rows = torch.randn(200, 12, generator=torch.Generator().manual_seed(0)) * torch.arange(1, 13)
    values = np.linalg.eigvalsh(np.cov(rows.double().numpy().T))[::-1]
    assert_close(serving.directions(rows).squares.numpy(), values / values.sum(), relative=1e-9)


def test_145_fails_where_one_head_has_all_that_there_is(shipped):
    """Heads that are alike lose nothing when averaged, so no latent loses less than that."""
    latent, *_ = asked(145, changed(shipped("mini-gpt"), alike))
    assert not latent


# --- 146 -----------------------------------------------------------------------------------------------------------


def test_146_exact_fewer_bytes_and_not_linear(answer: Ask):
    found = answer(146)
    assert (found.verdict, found.held) == ("partly", (True, True, False, True, True))


@pytest.mark.parametrize("sram", [SRAM, 1000, 300])
def test_146_tiles_equal_torch_and_move_what_the_formula_counts(sram: int):
    q, k, v = torch.randn(3, 130, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = tiled(q, k, v, sram=sram)
    assert_close(found.output, nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0], relative=1e-12)
    assert found.moved == tiled_moves(130, 16, sram=sram)
    rows, columns = tile_sizes(16, sram)
    assert rows <= 16
    assert 4 * 16 * (columns - 1) < sram
    assert whole_moves(130, 16) == 4 * 130 * 16 + 4 * 130 * 130


def test_146_fails_where_the_sum_is_not_faded(monkeypatch: pytest.MonkeyPatch):
    """The wrong formula that forgets exp(m − m') on what came before is no rounding."""
    right = torch.maximum

    def forgets(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        highest = right(old, new)
        old.copy_(highest)  # so that exp(m - m') is 1
        return highest

    monkeypatch.setattr(torch, "maximum", forgets)
    numbers = serving._flash().numbers
    assert [part.holds(numbers) for part in BY_NUMBER[146].parts][:2] == [False, True]


def test_146_is_linear_where_fast_memory_holds_all_keys(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(serving, "SRAM", 4 * 64 * 2**14)
    numbers = serving._flash().numbers
    assert BY_NUMBER[146].parts[2].holds(numbers)


# --- 147 -----------------------------------------------------------------------------------------------------------


def test_147_eight_bits_cost_little_and_four_do_not(answer: Ask):
    found = answer(147)
    assert (found.verdict, found.held) == ("partly", (True, True, False, False, True))
    assert 0.3 < found.numbers["moved_4"] / (found.numbers["moved_8"] * 127 / 7) < 2  # steps are 127 / 7 as large


def test_147_rounds_to_the_nearest_of_its_steps():
    weight = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))
    for bits in (8, 4):
        found = serving.rounded(weight, bits=bits, over=(1,)).numpy()
        for row, by_hand in zip(found, weight.double().numpy(), strict=True):
            step = np.abs(by_hand).max() / (2 ** (bits - 1) - 1)
            assert len(np.unique(np.round(row / step))) <= 2**bits - 1
            assert np.abs(row - by_hand).max() <= step / 2 + 1e-6


def test_147_leaves_the_model_as_it_was(shipped):
    loaded = shipped("mini-gpt")
    before = {name: weight.clone() for name, weight in loaded.network.named_parameters()}
    serving.quantised(loaded, bits=4)
    assert all(torch.equal(weight, before[name]) for name, weight in loaded.network.named_parameters())


def test_147_four_bits_cost_nothing_where_weights_are_whole_numbers(shipped):
    def whole(network: nn.Module) -> None:
        for module in network.modules():
            if isinstance(module, nn.Linear):
                module.weight[:] = serving.rounded(module.weight, bits=4, over=(1,))

    loaded = changed(shipped("mini-gpt"), whole).loaded
    world = Subject(loaded, TEXT, load=lambda model: loaded)
    assert asked(147, world)[:4] == (True, True, True, True)


# --- 148 -----------------------------------------------------------------------------------------------------------


def test_148_the_same_text_in_fewer_steps(answer: Ask):
    found = answer(148)
    assert (found.verdict, found.held) == ("partly", (True, False, False, True))
    assert found.numbers["plain"] > 1


def test_148_writes_what_the_model_writes_with_its_cache(shipped):
    loaded = shipped("mini-gpt")
    prompt = batch_of(Subject(loaded, TEXT))[0, :24].tolist()
    written = loaded.runner.decode(torch.tensor([prompt]), Decoding(), new_tokens=24, watch=lambda step: None)[0]

    def likeliest(ids: list[int], since: int) -> list[int]:
        return logits_of(loaded, torch.tensor([ids]), since=since)[0].argmax(dim=-1).tolist()

    drafted = serving.write_drafted(likeliest, prompt, new_tokens=24)
    assert list(drafted.tokens) == written[24:].tolist()
    assert drafted.steps < 24


@pytest.mark.parametrize("period", [3, 5, 8])
def test_148_steps_counted_by_hand_in_a_world_that_repeats(period: int):
    """A writer that goes round in a circle: a step writes the four tokens of the guess, or a circle, and one more."""

    def likeliest(ids: list[int], since: int) -> list[int]:
        return [(token + 1) % period for token in ids[since:]]

    begun = [*range(period), 0, 1]
    drafted = serving.write_drafted(likeliest, begun, new_tokens=20)
    assert drafted.tokens == tuple((2 + place) % period for place in range(20))
    assert drafted.steps == 20 // (1 + min(4, period))


def test_148_fails_where_guesses_are_not_held_to_the_model(shipped, monkeypatch: pytest.MonkeyPatch):
    right = serving.write_drafted
    monkeypatch.setattr(serving, "write_drafted", lambda *given, **also: right(*given, **also, held=False))
    same, *_ = asked(148, Subject(shipped("mini-gpt"), TEXT))
    assert not same


def test_148_two_tokens_a_step_where_the_model_repeats_itself(shipped):
    """Without its layers a decoder with a tied head writes the token that it read, and each guess is right."""

    def silent(network: nn.Module) -> None:
        for layer in network.layers:
            layer.attention.out.weight.zero_()
            layer.ffn.down.weight.zero_()

    assert asked(148, changed(shipped("mini-gpt"), silent))[:3] == (True, True, True)


def test_148_the_rule_of_acceptance_needs_its_residual():
    assert serving._speculative_rule() < 1e-12
    assert serving._speculative_rule(residual=False) > 1e-3


# --- 149 -----------------------------------------------------------------------------------------------------------


def test_149_mini_gpt_rests_on_no_first_token(answer: Ask):
    found = answer(149)
    assert (found.verdict, found.held) == ("partly", (False, True, True))


@pytest.mark.heavy
def test_149_smollm2_does(shipped):
    if not models.registry.is_installed("smollm2"):
        pytest.skip("SmolLM2 was not fetched")
    assert asked(149, Subject(shipped("smollm2"), examples.of("smollm2"))) == (True, True, True)


def test_149_a_cache_keeps_the_tokens_that_it_says():
    seen = serving.KeptTokens(10, 3, 2, 0).rows(0, 10)[0, 0]
    for query in range(10):
        by_hand = {key for key in range(query + 1) if key > query - 3 or key < 2}
        assert set(seen[query].nonzero().flatten().tolist()) == by_hand


def test_149_holds_where_a_model_reads_its_first_token(shipped):
    """A world in which a head that does not see the first token gives nothing."""
    loaded = shipped("mini-gpt")

    def needs_the_first(call, compute):
        first = torch.zeros_like(call.value)
        first[:, :, 0] = 1
        return compute(call) * (compute(replace(call, value=first)) > 0)

    with editing(needs_the_first):
        window, sinks, _ = asked(149, Subject(loaded, TEXT))
    assert (window, sinks) == (True, True)
