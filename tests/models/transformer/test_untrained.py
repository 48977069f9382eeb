"""Untrained models have the same random weights every time, whoever else draws random numbers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import models
from models.loaded import Shape
from models.transformer.untrained import config, network


@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
def test_nothing_of_them_is_drawn_from_the_global_generator(shape: Shape) -> None:
    states = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        states.append(network(config(shape, vocabulary=100)).state_dict())
    first, second = states
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.heavy
def test_threads_that_build_at_once_get_the_same() -> None:
    ids = ["own-encoder", "own-decoder"]
    alone = {id: models.load(id).network.state_dict() for id in ids}
    chosen = [ids[i % 2] for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(lambda id: models.load(id).network.state_dict(), chosen))
    for id, state in zip(chosen, states, strict=True):
        assert all(torch.equal(value, alone[id][name]) for name, value in state.items())
