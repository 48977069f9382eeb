"""Maps by channel, each held to its layer's recurrence written plainly in float64, token by token."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from models.mixers import CHUNK, Core, GatedConvolution, HashCollisions, PastSoftmax, SelectiveScan
from tests.closeness import assert_close

CHANNELS, STATES, WIDTH = 5, 3, 4
LENGTHS = (1, 7, CHUNK, CHUNK + 1, 150)


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def whole(core: Core, tokens: int) -> Tensor:
    maps = []
    for rows, weights in core.blocks(queries=slice(0, tokens)):
        assert weights.shape[1] == rows.stop - rows.start
        maps.append(torch.nn.functional.pad(weights, (0, tokens - weights.shape[2])))
    return torch.cat(maps, dim=1)


def scan(tokens: int) -> tuple[SelectiveScan, Callable[[Tensor], Tensor]]:
    step, rate = draw(tokens, CHANNELS).exp(), -draw(CHANNELS, STATES).exp()
    write, read, skip = draw(tokens, STATES), draw(tokens, STATES), draw(CHANNELS)

    def layer(x: Tensor) -> Tensor:
        state, answers = torch.zeros(CHANNELS, STATES, dtype=torch.float64), []
        for token in range(tokens):
            state = state * (rate * step[token, :, None]).exp()
            state = state + step[token, :, None] * write[token] * x[token, :, None]
            answers.append(state @ read[token] + skip * x[token])
        return torch.stack(answers)

    return SelectiveScan(step, rate, write, read, skip), layer


def wkv(tokens: int) -> tuple[PastSoftmax, Callable[[Tensor], Tensor]]:
    key, decay, bonus = 3 * draw(tokens, CHANNELS), -draw(CHANNELS).exp(), draw(CHANNELS)

    def layer(x: Tensor) -> Tensor:
        top, bottom, answers = torch.zeros(CHANNELS).double(), torch.zeros(CHANNELS).double(), []
        for token in range(tokens):
            own = (key[token] + bonus).exp()
            answers.append((top + own * x[token]) / (bottom + own))
            top = top * decay.exp() + key[token].exp() * x[token]
            bottom = bottom * decay.exp() + key[token].exp()
        return torch.stack(answers)

    return PastSoftmax(key, decay, bonus), layer


def convolution(tokens: int) -> tuple[GatedConvolution, Callable[[Tensor], Tensor]]:
    gate_in, gate_out, kernel = draw(tokens, CHANNELS), draw(tokens, CHANNELS), draw(CHANNELS, WIDTH)

    def layer(x: Tensor) -> Tensor:
        gated = (gate_in * x).numpy()
        sums = [np.convolve(gated[:, one], kernel[one].flip(0).numpy())[:tokens] for one in range(CHANNELS)]
        return gate_out * torch.tensor(np.stack(sums, axis=1))

    return GatedConvolution(gate_in, gate_out, kernel), layer


LAYERS = {"selective scan": scan, "WKV": wkv, "short convolution": convolution}


@pytest.mark.parametrize("tokens", LENGTHS)
@pytest.mark.parametrize("kind", LAYERS)
def test_the_map_times_the_values_is_what_the_layer_does(kind: str, tokens: int) -> None:
    torch.manual_seed(0)
    core, layer = LAYERS[kind](tokens)
    x = draw(tokens, CHANNELS)
    assert_close(torch.einsum("hqt,th->qh", whole(core, tokens), x), layer(x), relative=1e-10)


@pytest.mark.parametrize("kind", LAYERS)
def test_channels_and_blocks_alone_are_those_of_the_whole(kind: str) -> None:
    torch.manual_seed(0)
    core, _ = LAYERS[kind](150)
    maps = whole(core, 150)
    assert_close(whole(core.of_heads([3, 1]), 150), maps[[3, 1]], relative=1e-12)
    rows, weights = next(core.blocks(queries=slice(70, 75)))
    assert rows == slice(64, 128)
    assert_close(weights, maps[:, rows, :128], relative=1e-12)
    assert not maps.triu(1).any()


def test_rows_of_wkv_are_distributions() -> None:
    torch.manual_seed(0)
    core, _ = wkv(90)
    maps = whole(core, 90)
    assert bool((maps >= 0).all())
    assert_close(maps.sum(dim=-1), torch.ones(CHANNELS, 90).double(), relative=1e-12)


def test_hash_collisions_are_those_of_random_hyperplanes() -> None:
    """Signs of 200,000 random projections: the share of hashes of 3 in which two vectors agree."""
    torch.manual_seed(0)
    query, key = (torch.nn.functional.normalize(torch.randn(6, 1, 4), dim=-1) for _ in range(2))
    planes = torch.randn(3, 200_000, 4)
    sides = [torch.einsum("pnd,td->pnt", planes, vectors[:, 0]) > 0 for vectors in (query, key)]
    agree = (sides[0][..., :, None] == sides[1][..., None, :]).all(dim=0).float().mean(dim=0)
    maps = whole(HashCollisions(query, key, codes=3), 6)
    assert float((maps[0] - agree).abs().max()) < 0.01
