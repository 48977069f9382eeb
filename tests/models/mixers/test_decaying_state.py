"""A decaying state's map, held to its recurrence written plainly in float64, token by token."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from models.mixers import CHUNK, DecayingState
from tests.closeness import assert_close

HEADS, KV_HEADS, WIDTH = 4, 2, 8


def drawn(tokens: int, *, by_channel: bool = False, removes: bool = True, seed: int = 0) -> DecayingState:
    """A state of random inputs in float64."""
    torch.manual_seed(seed)
    query, key = torch.randn(2, tokens, KV_HEADS, WIDTH, dtype=torch.float64)
    decay = -torch.rand(tokens, HEADS, *((WIDTH,) if by_channel else ()), dtype=torch.float64)
    strength = torch.rand(tokens, HEADS, dtype=torch.float64)
    skip = torch.randn(HEADS, dtype=torch.float64)
    return DecayingState(query, key, decay, strength, removes=removes, skip=skip, normalised=removes, scale=WIDTH**-0.5)


def recurrence(core: DecayingState, value: Tensor) -> Tensor:
    """Do what the layer does: the state token by token; value and the answer are [T, H, V]."""
    answers = torch.zeros_like(value)
    shared = value.shape[1] // core.key.shape[1]
    for head in range(value.shape[1]):
        state = torch.zeros(core.key.shape[-1], value.shape[-1], dtype=torch.float64)
        for token in range(len(value)):
            query, key = core.query[token, head // shared], core.key[token, head // shared]
            if core.normalised:
                query, key = (vector / (vector @ vector + 1e-6).sqrt() for vector in (query, key))
            state = state * core.decay[token, head].exp().reshape(-1, 1)
            written = value[token, head] - (key @ state if core.removes else 0)
            strength = 1.0 if core.strength is None else core.strength[token, head]
            state = state + torch.outer(key, strength * written)
            answers[token, head] = core.scale * query @ state
            if core.skip is not None:
                answers[token, head] += core.skip[head] * value[token, head]
    return answers


def whole(core: DecayingState) -> Tensor:
    """All maps, [H, T, T]."""
    tokens = len(core.decay)
    maps = torch.zeros(core.decay.shape[1], tokens, tokens, dtype=torch.float64)
    for rows, weights in core.blocks(queries=slice(0, tokens)):
        maps[:, rows, : rows.stop] = weights
    return maps


@pytest.mark.parametrize("tokens", [1, 7, CHUNK, CHUNK + 1, 200])
@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("removes", [False, True])
def test_the_map_times_the_values_is_the_recurrence(tokens: int, by_channel: bool, removes: bool) -> None:
    core = drawn(tokens, by_channel=by_channel, removes=removes)
    value = torch.randn(tokens, HEADS, 5, dtype=torch.float64)
    made = torch.einsum("hqt,thv->qhv", whole(core), value)
    assert_close(made, recurrence(core, value), relative=1e-10)


@pytest.mark.parametrize("by_channel", [False, True])
def test_each_weight_is_what_its_token_alone_adds(by_channel: bool) -> None:
    """A value that is 1 at one token and 0 elsewhere gives a column of the map."""
    core, tokens = drawn(70, by_channel=by_channel), 70
    maps = whole(core)
    for token in (0, 3, 63, 64, 69):
        value = torch.zeros(tokens, HEADS, 1, dtype=torch.float64)
        value[token] = 1
        assert_close(maps[:, :, token].T, recurrence(core, value)[..., 0], relative=1e-10)


def test_a_decay_of_thousands_overflows_nowhere() -> None:
    core = drawn(300)
    core = replace(core, decay=core.decay * 100)
    value = torch.randn(300, HEADS, 5, dtype=torch.float64)
    assert float(core.decay.sum(dim=0).min()) < -10_000
    assert_close(torch.einsum("hqt,thv->qhv", whole(core), value), recurrence(core, value), relative=1e-10)


def test_numbers_next_to_zero_are_zero_for_no_one_else() -> None:
    """Between the blocks of a map its reader computes, with all numbers that float64 has."""
    tiny = torch.tensor([1e-310], dtype=torch.float64)
    for _ in drawn(200).blocks(queries=slice(0, 200)):
        assert float((tiny * 2)[0]) > 0
    assert float((tiny * 2)[0]) > 0


def test_a_head_and_a_block_alone_are_those_of_the_whole() -> None:
    core = drawn(200)
    maps = whole(core)
    for head in range(HEADS):
        assert_close(whole(core.of_heads([head]))[0], maps[head], relative=1e-12)
    rows, weights = next(core.blocks(queries=slice(130, 140)))
    assert rows == slice(128, 192)
    assert_close(weights, maps[:, rows, :192], relative=1e-12)


@pytest.mark.parametrize(("removes", "left"), [(True, 0.0), (False, 1.0)])
def test_the_same_key_written_again_erases_the_first_token(removes: bool, left: float) -> None:
    """Nothing but what is written last is held by a key of length 1, with beta 1 and no decay."""
    key = torch.zeros(5, 1, WIDTH, dtype=torch.float64)
    key[[0, 2], 0, 0] = key[[1, 3, 4], 0, 1] = 1
    query = torch.zeros_like(key)
    query[..., 0] = 1
    core = DecayingState(query, key, torch.zeros(5, 1), torch.ones(5, 1), removes=removes)
    first = whole(core)[0, :, 0]
    assert_close(first, torch.tensor([1, 1, left, left, left], dtype=torch.float64), relative=1e-12)
    assert_close(whole(core)[0, 2:, 2], torch.ones(3, dtype=torch.float64), relative=1e-12)
