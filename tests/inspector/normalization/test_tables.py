from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from inspector import normalization, record
from inspector.trace import Trace
from models.loaded import LoadedModel
from tests.closeness import assert_close

TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return record(minilm, TEXT)


@pytest.fixture(scope="module")
def statistics(trace: Trace) -> pd.DataFrame:
    return normalization.statistics(trace)


@pytest.fixture(scope="module")
def seen(minilm: LoadedModel, trace: Trace) -> list[tuple[str, torch.Tensor, torch.Tensor]]:
    """Name, input and output of every LayerNorm of the model, hooked here and not by the probe."""
    calls: list[tuple[str, torch.Tensor, torch.Tensor]] = []
    hooks = [
        module.register_forward_hook(lambda _m, inputs, out, name=name: calls.append((name, inputs[0][0], out[0])))
        for name, module in minilm.network.named_modules()
        if isinstance(module, nn.LayerNorm)
    ]
    with torch.no_grad():
        minilm.network(**minilm.tokenizer(TEXT, return_tensors="pt"))
    for hook in hooks:
        hook.remove()
    return calls


def test_statistics_are_those_of_the_models_own_norms(statistics: pd.DataFrame, seen: list):
    assert len(seen) == 13
    for norm, (name, before, after) in enumerate(seen):
        rows = statistics[statistics.norm == norm]
        assert set(rows.name) == {name}
        for tensor, when in ((before, "before"), (after, "after")):
            exact = tensor.double()
            mean = rows[f"mean_{when}"].to_numpy()
            std = rows[f"std_{when}"].to_numpy()
            assert_close(mean, exact.mean(-1), relative=1e-5)
            rms = rows[f"rms_{when}"].to_numpy()
            assert_close(std, exact.var(-1, correction=0).sqrt(), relative=1e-5)
            assert_close(rms, exact.square().mean(-1).sqrt(), relative=1e-5)


def test_statistics_of_the_recorded_input_against_a_plain_loop(trace: Trace, statistics: pd.DataFrame):
    for norm in (0, 5, 12):
        rows = statistics[statistics.norm == norm]
        for row, features in zip(rows.itertuples(), trace.norms[norm].input.tolist(), strict=True):
            mean = sum(features) / 384
            variance = sum((feature - mean) ** 2 for feature in features) / 384
            assert_close(row.mean_before, mean, relative=1e-12)
            assert_close(row.std_before, variance**0.5, relative=1e-12)


def test_after_is_the_formula_with_gamma_beta_and_epsilon(trace: Trace, statistics: pd.DataFrame):
    for norm, recorded in enumerate(trace.norms):
        x, gamma, beta = (torch.tensor(a, dtype=torch.float64) for a in (recorded.input, recorded.gamma, recorded.beta))
        expected = torch.nn.functional.layer_norm(x, (384,), gamma, beta, recorded.epsilon)
        rows = statistics[statistics.norm == norm]
        assert_close(rows.mean_after, expected.mean(-1), relative=1e-6, scale=expected)
        assert_close(rows.std_after, expected.std(-1, correction=0), relative=1e-5)


def test_layout(trace: Trace, statistics: pd.DataFrame):
    assert list(statistics.columns) == [
        *("norm", "name", "stream", "layer", "part", "position", "token"),
        *("mean_before", "std_before", "rms_before", "mean_after", "std_after", "rms_after", "epsilon"),
    ]
    assert len(statistics) == 13 * len(trace.tokens)
    assert statistics.layer.dtype == "Int64"
    first, rest = statistics[statistics.norm == 0], statistics[statistics.norm > 0]
    assert set(first.part) == {"embedding"}
    assert first.layer.isna().all()
    assert (rest.layer == (rest.norm - 1) // 2).all()
    assert (rest.part == np.where(rest.norm % 2, "attention", "ffn")).all()
    assert list(first.position) == list(range(len(trace.tokens)))
    assert tuple(first.token) == trace.tokens
    assert set(statistics.epsilon) == {1e-12}


def test_parameters_are_those_of_the_model(minilm: LoadedModel, trace: Trace):
    table = normalization.parameters(trace)
    assert list(table.columns) == ["norm", "name", "stream", "layer", "part", "dimension", "gamma", "beta", "outlier"]
    assert (len(table), table.layer.dtype) == (13 * 384, "Int64")
    for name, rows in table.groupby("name"):
        module = minilm.network.get_submodule(str(name))
        np.testing.assert_array_equal(rows.gamma, module.weight.double())
        np.testing.assert_array_equal(rows.beta, module.bias.double())
        expected = np.zeros(384, dtype=bool)
        for values in (module.weight.double(), module.bias.double()):
            z = (values - values.mean()) / values.std(correction=0)
            expected |= (z.abs() > 3).numpy()
        np.testing.assert_array_equal(rows.outlier, expected)
        assert 0 < rows.outlier.sum() < 20


def test_outliers_of_gamma_alone_of_beta_alone_and_of_none(trace: Trace):
    flat, spike_low, spike_high = np.ones(384), np.ones(384), np.ones(384)
    spike_low[3], spike_high[8] = -1.0, 2.0
    norms = tuple(
        replace(trace.norms[0], gamma=gamma, beta=beta)
        for gamma, beta in ((spike_low, flat), (flat, spike_high), (flat, flat))
    )
    table = normalization.parameters(replace(trace, norms=norms))
    assert [list(rows.dimension[rows.outlier]) for _, rows in table.groupby("norm")] == [[3], [8], []]
