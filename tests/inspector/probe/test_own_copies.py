"""A recording keeps its own copies: what a model writes over its tensors later changes no record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import models
from inspector import Trace, record
from inspector.exactness import check_norms, check_residual_stream
from models import LoadedModel

TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture
def loaded() -> LoadedModel:
    """A model of this test alone, with the recording's hooks on it."""
    loaded = models.load("minilm")
    record(loaded, TEXT)
    return loaded


def norms_of(loaded: LoadedModel) -> list[Any]:
    return [module for module in loaded.network.modules() if isinstance(module, torch.nn.LayerNorm)]


def test_a_norms_input_is_kept_as_it_was(loaded: LoadedModel) -> None:
    before = record(loaded, TEXT)

    def overwrites(module: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        inputs[0].fill_(7.0)  # read no more by this model

    for norm in norms_of(loaded):
        norm.register_forward_hook(overwrites)  # after the recording's own
    after = record(loaded, TEXT)
    for one, other in zip(before.norms, after.norms, strict=True):
        np.testing.assert_array_equal(one.input, other.input)
    assert check_norms(after).exact
    assert check_residual_stream(after).exact


def test_a_state_that_is_changed_in_place_is_not_taken_for_the_same(loaded: LoadedModel) -> None:
    def shifts(module: Any, inputs: tuple[Tensor, ...]) -> None:
        inputs[0].add_(1.0)  # between the layer's entrance, as the recording saw it, and its first product

    layer = loaded.network.encoder.layer[2]
    layer.register_forward_pre_hook(shifts)
    first = layer.attention.output.LayerNorm
    taken: list[Tensor] = []
    first.register_forward_pre_hook(lambda _, inputs: taken.append(inputs[0].clone()))
    trace = record(loaded, TEXT)
    np.testing.assert_array_equal(norm_of(trace, layer=2, part="attention").input, taken[0][0])
    assert norm_of(trace, layer=2, part="attention").difference == 0.0


def norm_of(trace: Trace, *, layer: int, part: str) -> Any:
    return next(norm for norm in trace.norms if (norm.layer, norm.part) == (layer, part))


def test_what_the_modules_gave_is_summarised_on_demand(loaded: LoadedModel) -> None:
    given: list[np.ndarray] = []
    for norm in norms_of(loaded):
        norm.register_forward_hook(lambda module, inputs, output: given.append(output[0].double().numpy()))
    trace = record(loaded, TEXT)
    assert [norm.difference for norm in trace.norms] == [0.0] * 13  # bit-equal to their formula
    for norm, output in zip(trace.norms, given, strict=True):
        assert norm.truth is not None
        expected = np.stack([output.mean(axis=1), output.std(axis=1)], axis=1)
        assert np.abs(norm.truth - expected).max() <= 1e-6 * np.abs(expected).max()
    for state in trace.states:
        exact = trace.state(state).astype(np.float64)
        expected = np.stack([exact.mean(axis=1), exact.std(axis=1)], axis=1)
        assert np.abs(state.truth - expected).max() <= 1e-6 * np.abs(expected).max()


def test_a_norm_that_is_not_its_formula_is_refused() -> None:
    """One number of one token that a hook changes: too much for rounding."""

    def changes(module: Any, inputs: tuple[Tensor], output: Tensor) -> Tensor:
        output[0, 3, 5] += 1e-3
        return output

    fresh = models.load("minilm")
    norms_of(fresh)[4].register_forward_hook(changes)  # before the recording's own
    trace = record(fresh, TEXT)
    assert len(trace.norms) == 12
    assert [refused.what for refused in trace.refused] == ["norm"]
