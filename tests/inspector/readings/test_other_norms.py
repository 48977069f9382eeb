"""Readings of the sections of the page LayerNorm, and the sentences made of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from inspector import normalization, record, record_batch
from inspector.readings import other_norms as read
from inspector.trace import PaddedBatch, Trace
from inspector.wording.english import other_norms as words
from models import LoadedModel

TEXTS = ("The cat sat on the mat because it was tired.", "Yes.")


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return record(minilm, TEXTS[0])


def test_steps_and_outliers_are_those_of_the_tables(trace: Trace) -> None:
    table = normalization.change(trace)
    found = read.steps(table, norms=13)
    assert sum(share for _, share in found.shares) == pytest.approx(1)
    assert dict(found.shares)["scaling"] == pytest.approx(table.scaling.mean())
    assert "left out" not in words.steps(found)
    outliers = normalization.outliers(trace)
    one = read.outlier(outliers)
    assert one.times == outliers.times.max()
    assert (one.of, one.massive) == (13, 0)
    assert "No activation of this text is massive" in words.outlier(one, norm="at the end")
    outliers.loc[outliers.index[0], "massive"] = True
    assert "Massive activations (size over 100" in words.outlier(read.outlier(outliers), norm="at the end")


def test_tokens_that_stand_out_are_named() -> None:
    table = pd.DataFrame(
        [(norm, at, f"t{at}", 9.0 if at == 2 and norm else 1.0) for norm in (0, 1) for at in range(5)],
        columns=["norm", "position", "token", "std_before"],
    )
    (far,) = read.far(table, size="std")
    assert (far.token, far.norms, far.times) == ("t2", 1, 9.0)
    assert "`t2` (before 1 of 2 norms, up to 9.00 times)" in words.far([far], norms=2, size="standard deviation")
    assert words.far([], norms=2, size="standard deviation").startswith("No token has twice")


def test_padding_moves_the_statistics_that_count_it(minilm: LoadedModel) -> None:
    def cells(columns: int | None) -> PaddedBatch:
        return record_batch(minilm, TEXTS, keep_padding=True, columns=columns)

    plain, wide = cells(None), cells(30)
    x, y = plain.before(4), wide.before(4)
    found = read.padded(
        (x, plain.keep),
        (y, wide.keep),
        token="the",
        row=0,
        column=1,
        epsilon=1e-12,
        running=normalization.running_statistics(x, plain.keep),
    )
    assert (found.padding, found.cells, found.added) == ((~wide.keep).sum(), 60, 30 - x.shape[1])
    exact = y[..., found.dimension].astype(np.float64)
    assert found.batch[1] == (pytest.approx(exact.mean()), pytest.approx(exact.std()))
    assert found.layer[1] == (pytest.approx(y[0, 1].mean(), abs=1e-6), pytest.approx(y[0, 1].std(), rel=1e-5))
    assert found.moved["batch"] > 0.1
    assert found.moved["layer"] < 1e-4
    assert "every real token stays" in words.padded(found)
    assert "columns of them added" in words.padded(found)


def test_depth_reads_both_ends() -> None:
    table = pd.DataFrame(
        {
            "stack": "pre-norm",
            "layer": [-1, 0, 1],
            "activation": [1, 2, 3],
            "gradient": [4.0, 1, 2],
            "cosine": [0, 0, 0.5],
        }
    )
    found = read.depth(table)
    assert (found.gradient, found.activation, found.cosine) == ({"pre-norm": 2.0}, {"pre-norm": 3}, {"pre-norm": 0.5})
    assert "2.00 (pre-norm)" in words.depth(found)
