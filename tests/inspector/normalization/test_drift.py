"""Internal covariate shift: the moves of a layer's inputs against numpy, and a training that learns."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
import torch

from inspector import normalization
from inspector.normalization import depth
from inspector.normalization.drift import moves
from inspector.sections.layernorm import depth as section


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
