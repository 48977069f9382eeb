"""Internal covariate shift: the moves of a layer's inputs against numpy, and a training that learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from inspector import normalization
from inspector.normalization.drift import moves
from inspector.readings import other_norms as read
from inspector.wording.english import other_norms as words


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
    found = read.drift(table)
    still = table.loc[table["mean"].idxmin(), "norm"]
    assert f"Inputs move least with {still}" in words.drift(found)
