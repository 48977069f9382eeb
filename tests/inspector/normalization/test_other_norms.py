"""Activations through several norms, against torch.nn.functional and known answers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import kendalltau
from torch.nn import functional

from inspector import normalization
from inspector.normalization import OtherNorm, through
from tests.closeness import assert_close

RANDOM = np.random.default_rng(0)
LENGTHS = (5, 5, 5, 5, 20)
KEEP: NDArray[np.bool_] = np.arange(20) < np.array(LENGTHS)[:, None]
X = np.where(KEEP[..., None], RANDOM.exponential(size=(5, 20, 16)) * 3 - 1, 0.0).astype(np.float32)
EPSILON = 1e-5


def agrees(made: np.ndarray, expected: torch.Tensor) -> None:
    assert np.abs(made - expected.numpy()).max() <= 1e-5 * float(expected.abs().max())


def test_every_norm_is_torchs_own() -> None:
    x, gamma, beta = torch.tensor(X), torch.rand(16), torch.rand(16)
    affine = {"gamma": gamma.numpy(), "beta": beta.numpy(), "epsilon": EPSILON}
    agrees(through(X, KEEP, norm="layer", **affine), functional.layer_norm(x, (16,), gamma, beta, EPSILON))
    agrees(through(X, KEEP, norm="rms", epsilon=EPSILON), functional.rms_norm(x, (16,), None, EPSILON))
    counted = functional.batch_norm(x.mT, None, None, gamma, beta, training=True, eps=EPSILON).mT
    agrees(through(X, KEEP, norm="batch", **affine), counted)
    real = functional.batch_norm(x[torch.tensor(KEEP)], None, None, training=True, eps=EPSILON)
    agrees(through(X, KEEP, norm="masked batch", epsilon=EPSILON)[KEEP], real)
    running = normalization.running_statistics(X, KEEP)
    batch = torch.nn.BatchNorm1d(16, momentum=None)
    batch(x[torch.tensor(KEEP)])
    assert_close(running[0], batch.running_mean, relative=1e-5)
    assert_close(running[1], batch.running_var, relative=1e-5)
    agrees(through(X, KEEP, norm="running batch", running=running), batch.eval()(x.mT).mT.detach())
    np.testing.assert_array_equal(through(X, KEEP, norm="none"), X)


@pytest.mark.parametrize(("norm", "moves"), [("batch", True), ("masked batch", False), ("layer", False)])
def test_padding_moves_batch_norm_alone(norm: OtherNorm, moves: bool) -> None:
    padded, keep = np.pad(X, ((0, 0), (0, 80), (0, 0))), np.pad(KEEP, ((0, 0), (0, 80)))
    drift = np.abs(through(padded, keep, norm=norm)[keep] - through(X, KEEP, norm=norm)[KEEP]).max()
    assert (drift > 0.5) == moves
    assert moves or drift == 0


def test_what_is_kept_of_a_token() -> None:
    table = normalization.compared(X, KEEP, running=normalization.running_statistics(X, KEEP)).set_index("norm")
    assert table.within["layer"] == table.within["rms"] == 1.0
    assert table.within["masked batch"] < 1
    assert table.across["masked batch"] == pytest.approx(1.0)
    assert table.across["layer"] < 1
    assert (table.pairs["layer"], table.cells["layer"]) == (sum(LENGTHS), 16)
    assert (table.pairs["batch"], table.cells["batch"]) == (16, 5 * 20)
    assert table.cells["masked batch"] == sum(LENGTHS)
    assert table.others[["layer", "rms", "none", "running batch"]].max() == 0
    assert table.others["masked batch"] > 0.1
    assert table.scaled["layer"] < 1e-2 < table.scaled["none"]
    scores = X[KEEP].astype(np.float64)
    z = (scores - scores.mean(-1, keepdims=True)) / scores.std(-1, keepdims=True)
    assert table["kurtosis"]["layer"] == pytest.approx((z**4).mean(), rel=1e-3)
    assert table["skew"]["layer"] == pytest.approx((z**3).mean(), rel=1e-3)


@pytest.mark.parametrize("count", [2, 3, 7, 64, 384])
@pytest.mark.parametrize("values", [3, 10**6])  # many equal numbers; hardly any
def test_kendalls_tau_counts_every_pair(count: int, values: int) -> None:
    before, after = RANDOM.integers(0, values, (2, 5, count)).astype(float)
    signs = [np.sign(side[:, :, None] - side[:, None]) for side in (before, after)]
    expected = (signs[0] * signs[1]).sum(axis=(1, 2)) / (count * (count - 1))
    assert_close(normalization.kendall(before, after), expected, relative=1e-12, scale=1)


def test_order_is_compared_in_all_tokens_and_dimensions() -> None:
    x = RANDOM.normal(size=(4, 50, 130)) * RANDOM.exponential(size=130)  # more than are compared at once
    table = normalization.compared(x, np.ones((4, 50), bool)).set_index("norm")
    flat, out = x.reshape(-1, 130), through(x, np.ones((4, 50), bool), norm="layer").reshape(-1, 130)
    taus = [kendalltau(*column).statistic for column in zip(flat.T, out.T, strict=True)]  # tau-b: nothing is equal
    assert table.across["layer"] == pytest.approx(np.mean(taus), rel=1e-12)


def test_late_positions_have_one_text_and_small_batches_are_noisy() -> None:
    table = normalization.by_position(X, KEEP)
    assert list(table["count"]) == [5] * 5 + [1] * 15
    assert not table.deviation[5:].any()
    assert table.deviation[0] == pytest.approx(X[:, 0].astype(np.float64).std(axis=0).mean())
    noise = normalization.noise(RANDOM.normal(size=(64, 1, 8)), np.ones((64, 1), bool))
    assert_close(noise.deviation * np.sqrt(noise.texts), 1, relative=0.15)  # the standard error of a mean


def test_statistics_that_there_are_not_are_asked_for() -> None:
    with pytest.raises(ValueError, match="running statistics are those of other texts"):
        through(X, KEEP, norm="running batch")
    with pytest.raises(ValueError, match="BatchNorm over 1 cell"):
        through(X[:1, :1], KEEP[:1, :1], norm="masked batch")
