"""The steps of a norm's change and the outlier dimensions, against plain numpy on the recorded inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from inspector import normalization, record
from inspector.trace import Trace
from models import LoadedModel
from tests.closeness import assert_close


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return record(minilm, "The cat sat on the mat.")


def test_the_steps_lead_from_input_to_output(trace: Trace) -> None:
    table = normalization.change(trace)
    assert len(table) == 13 * len(trace.tokens)
    assert_close(table[list(normalization.STEPS)].sum(axis=1), 1, relative=1e-6)
    for number in (0, 7):
        norm, row = trace.norms[number], table[(table.norm == number) & (table.position == 2)].iloc[0]
        x, gamma, beta = (array.astype(np.float64) for array in (norm.input[2], norm.gamma, norm.beta))
        n = (x - x.mean()) / np.sqrt(x.var() + norm.epsilon)
        steps = [-np.full_like(x, x.mean()), n - (x - x.mean()), (gamma - 1) * n, beta]
        assert_close(sum(steps) + x, norm.output[2], relative=1e-5)
        lengths = [np.linalg.norm(step) for step in steps]
        assert_close(row[list(normalization.STEPS)].astype(float), np.array(lengths) / sum(lengths), relative=1e-6)
        assert row.moved == pytest.approx(np.linalg.norm(sum(steps)) / np.linalg.norm(x))


def test_an_rms_norm_takes_no_mean_off_and_adds_nothing(trace: Trace) -> None:
    norm = replace(trace.norms[0], kind="rms", beta=np.zeros(384, np.float32), learned=("gamma",))
    table = normalization.change(replace(trace, norms=(norm,)))
    assert not table[["centring", "beta"]].any().any()
    running = np.stack([norm.input.mean(axis=0), norm.input.var(axis=0)])
    batch = normalization.change(replace(trace, norms=(replace(norm, kind="batch", running=running),)))
    assert (batch.centring > 0).all()


def test_outliers_are_the_largest_dimensions_by_the_median(trace: Trace) -> None:
    inputs = [norm.input.copy() for norm in trace.norms]
    inputs[3][2, 40] = -5000.0
    norms = tuple(replace(norm, input=x) for norm, x in zip(trace.norms, inputs, strict=True))
    table = normalization.outliers(replace(trace, norms=norms), most=3)
    assert len(table) == 13 * 3
    row = table[(table.norm == 3) & (table.dimension == 40)].iloc[0]
    assert (row.value, row.position, row.token, row.massive) == (-5000, 2, "cat", True)
    assert row["median"] == pytest.approx(np.median(np.abs(inputs[3])))
    assert row.times == pytest.approx(5000 / np.median(np.abs(inputs[3])))
    assert table.massive.sum() == 1
    times = np.stack([np.abs(x).max(axis=0) / np.median(np.abs(x)) for x in inputs]).max(axis=0)
    assert sorted(set(table.dimension)) == sorted(np.argsort(-times)[:3])
    assert normalization.outliers(replace(trace, norms=())).empty
