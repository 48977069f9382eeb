"""Activation functions on a text's pre-activations against numpy, and units that die."""

from __future__ import annotations

from math import erf, exp, pi, sqrt

import numpy as np
import pytest

import inspector
from inspector import activations
from inspector.sections.block import ffn as section
from inspector.wording.english import block as words
from tests.models.own_models import own


def test_outputs_are_those_of_the_formulas() -> None:
    loaded = own("encoder", layers=1, activation="gelu")
    trace = inspector.record(loaded, "The cat sat on the mat because it was tired.")
    blocks = inspector.record_blocks(loaded, trace)
    (ffn,) = blocks.ffns
    table = activations.outputs(ffn, loaded.network).set_index("function")
    before = ffn.pre_activations(loaded.network).double().numpy().ravel()
    relu = np.maximum(before, 0)
    expected = [relu.mean(), relu.std(), (relu == 0).mean(), (before <= 0).mean(), relu.max()]
    assert table.loc["relu"].tolist() == pytest.approx(expected, rel=1e-9)
    below = np.array([(1 + erf(x / sqrt(2))) / 2 for x in before])
    slope = below + before * np.array([exp(-x * x / 2) / sqrt(2 * pi) for x in before])
    gelu = before * below
    expected = [gelu.mean(), gelu.std(), 0, (np.abs(slope) < 1e-3).mean(), gelu.max()]
    assert table.loc["gelu"].tolist() == pytest.approx(expected, rel=1e-9)
    said = section.outputs(table.reset_index(), blocks, stream="encoder")
    assert "never an output below 0; GELU, this FFN's, makes it" in said[0]


def test_a_high_rate_kills_units_and_a_low_one_none() -> None:
    table = activations.dying(rates=(0.1, 3.0), steps=60).set_index("rate")
    assert table.dead[0.1] == 0
    assert table.dead[3.0] > 0
    assert words.dying(table.reset_index()).startswith("Dead after training, by learning rate: 0 % at 0.1 and ")
