"""The softmax's Jacobian and the entropy of rows, held to autograd, to hand counting and to a row near one-hot."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from inspector.scores import jacobian_norm, saturation
from tests.closeness import assert_close


@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0, 30.0])
def test_the_jacobians_norm_is_autograds(spread: float) -> None:
    """Setting: 20 rows of 64 scores N(0, spread^2), seed 0, float64."""
    scores = spread * torch.randn(20, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    want = [torch.autograd.functional.jacobian(lambda row: row.softmax(0), row).norm() for row in scores]
    found = jacobian_norm(scores.softmax(-1).numpy())
    assert_close(found, torch.stack(want).numpy(), relative=1e-9)
    p = scores.softmax(-1).numpy()  # the closed form as it is written
    closed = (p**2).sum(-1) - 2 * (p**3).sum(-1) + (p**2).sum(-1) ** 2
    assert_close(found**2, closed, relative=1e-12)


def test_a_row_near_one_hot_keeps_its_digits() -> None:
    """p = (1 - e, e, 0): the norm is 2 e to first order, of which the closed form in float64 would keep nothing."""
    for small in (1e-6, 1e-12):
        row = np.array([1 - small, small, 0.0])
        assert jacobian_norm(row) == pytest.approx(2 * small, rel=1e-5)
        assert jacobian_norm(row.astype(np.float32)) == pytest.approx(2 * small, rel=1e-5)
    assert jacobian_norm(np.array([0.5, 0.5])) == pytest.approx(0.5)
    assert jacobian_norm(np.array([1.0, 0.0])) == 0
    with_sink = np.array([0.25, 0.25])  # half of the row is in no key: J of the two, not of three
    assert jacobian_norm(with_sink) == pytest.approx(
        np.linalg.norm(np.diag(with_sink) - np.outer(with_sink, with_sink))
    )


def test_a_query_of_one_key_has_no_share() -> None:
    weights = np.array([[[1.0, 0.0], [0.5, 0.5]]], np.float32)
    rows = saturation.read(weights, np.array([[1, 2]]))
    assert rows.choosing.tolist() == [[False, True]]
    assert_close(rows.share_of_most(), [[np.nan, 1.0]], relative=1e-6)
