"""Internal covariate shift: the moves of a layer's inputs against numpy, and a training that learns."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
import torch
from torch import nn

from inspector import normalization
from inspector.normalization import depth
from inspector.normalization.drift import moves
from inspector.sections.layernorm import depth as section
from models.transformer import Encoder


def test_moves_are_those_of_numpy() -> None:
    inputs = np.random.default_rng(0).normal(size=(4, 50, 3)) * np.array([1, 2, 5]) + np.arange(4)[:, None, None]
    means, deviations = inputs.mean(axis=1), inputs.std(axis=1, ddof=1)
    expected = [
        np.mean([np.sqrt(np.mean(((of[t + 1] - of[t]) / deviations[t]) ** 2)) for t in range(3)])
        for of in (means, deviations)
    ]
    assert moves(torch.tensor(inputs)) == pytest.approx(expected, rel=1e-12)


def test_small_stacks_learn_and_the_sentence_follows_the_numbers() -> None:
    table = normalization.drift(steps=12)
    assert (table["last"] < table["first"]).all()
    still = table.loc[table["mean"].idxmin(), "norm"]
    assert f"Inputs move least with {still}" in section.drift(table)


def test_moves_are_taken_over_all_tokens_of_the_held_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    drift = import_module("inspector.normalization.drift")  # the room's name of it is the function
    shapes = []
    monkeypatch.setattr(drift, "moves", lambda inputs: shapes.append(tuple(inputs.shape)) or moves(inputs))
    normalization.drift(steps=2)
    assert set(shapes) == {(2 + 1, drift._HELD * depth.TOKENS, depth.WIDTH)}


def test_the_spread_is_that_of_the_loss_along_the_gradient() -> None:
    torch.manual_seed(0)
    drift = import_module("inspector.normalization.drift")
    network, head = Encoder(depth.small_encoder(layers=1, norm="layer")), nn.Linear(depth.WIDTH, depth.VOCABULARY)
    ids = torch.randint(depth.VOCABULARY, (2, depth.TOKENS))
    both = nn.ModuleList([network, head])

    def loss() -> torch.Tensor:
        return nn.functional.cross_entropy(head(network(ids)).transpose(1, 2), ids)

    loss().backward()
    trained = [parameter for parameter in both.parameters() if parameter.grad is not None]
    before = nn.utils.parameters_to_vector(trained).detach()
    gradient = torch.cat([parameter.grad.flatten() for parameter in trained])
    spread = drift._spread(network, head, ids)
    assert torch.equal(nn.utils.parameters_to_vector(trained), before)
    losses = []
    for along in (0.0, 0.05, 0.1, 0.2, 0.4):
        nn.utils.vector_to_parameters(before - along * gradient / gradient.norm(), trained)
        losses.append(float(loss().detach()))
    assert max(losses) - min(losses) > 0.01
    assert spread == pytest.approx(max(losses) - min(losses), rel=1e-4)
