"""Random queries and keys against autograd, closed forms, and the numbers measured for the notes' claims 16 to 23."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import ndtr

from inspector.scores import jacobian_norm, theory
from tests.closeness import assert_close

# Claim 18: d_k -> median ||J|| unscaled and scaled, 64 keys, normal entries; torch, seed 0, one draw.
MEASURED = {
    4: (0.261, 0.171),
    16: (0.329, 0.177),
    64: (0.185, 0.179),
    128: (0.085, 0.180),
    256: (0.025, 0.180),
    512: (3.3e-3, 0.180),
    1024: (2.9e-4, 0.180),
    4096: (1e-8, 0.179),
}
SEEDS = range(5)


@pytest.fixture(scope="module")
def medians() -> dict[int, dict[str, float]]:
    """Medians over five seeds of every number, by d_k: 64 keys, normal entries."""
    tables = [theory.drawn(keys=64, entries="normal", seed=seed, widths=tuple(MEASURED)) for seed in SEEDS]
    stacked = np.median(np.stack([table.to_numpy(float) for table in tables]), axis=0)
    return {int(row[0]): dict(zip(tables[0].columns, row.tolist(), strict=True)) for row in stacked}


def within(found: float, measured: float) -> bool:
    """Return True within a factor of 1.5, or 3 below 1e-3; 1e-8 stands for what rounds to it, up to 1.5e-8."""
    factor = 1.5 if measured >= 1e-3 else 3
    most = 1.5e-8 if measured == 1e-8 else measured
    return measured / factor <= found <= most * factor


@pytest.mark.parametrize("width", MEASURED)
def test_the_median_jacobians_are_those_that_were_measured(medians: dict[int, dict[str, float]], width: int) -> None:
    found, (unscaled, scaled) = medians[width], MEASURED[width]
    assert within(found["jacobian_median"], unscaled)
    assert within(found["scaled_jacobian_median"], scaled)
    assert (found["jacobian_median"] > found["scaled_jacobian_median"]) == (width <= 64)


def test_variance_is_d_k_and_one_after_the_scale(medians: dict[int, dict[str, float]]) -> None:
    for width, found in medians.items():
        assert found["variance"] == pytest.approx(width, rel=0.05)
        assert found["scaled_variance"] == pytest.approx(1, rel=0.05)
    flat = theory.drawn(keys=64, entries="uniform", seed=0, widths=(16, 1024))
    assert_close(flat["scaled_variance"], 1, relative=0.05)


def test_tails_are_heavy_at_a_small_width_and_those_of_theory(medians: dict[int, dict[str, float]]) -> None:
    assert medians[4]["excess"] == pytest.approx(theory.excess(4, "normal"), rel=0.1)
    assert theory.excess(4, "normal") == 1.5
    assert abs(medians[1024]["excess"]) < 0.05
    x = np.random.default_rng(0).uniform(-1, 1, 10**6)
    flat = np.mean(x**4) / np.mean(x**2) ** 2
    assert_close(flat**2 - 3, theory.excess(1, "uniform"), relative=0.02)


def test_the_query_s_gradient_spikes_and_its_median_vanishes_without_the_scale(
    medians: dict[int, dict[str, float]],
) -> None:
    found = medians[1024]
    for name, measured in (
        ("gradient_mean", 2.03),
        ("gradient_median", 6.5e-3),
        ("scaled_gradient_mean", 0.18),
        ("scaled_gradient_median", 0.17),
    ):
        assert within(found[name], measured), name
    assert found["gradient_mean"] > 10 * found["scaled_gradient_mean"]
    assert found["gradient_median"] < found["scaled_gradient_median"] / 10


def test_the_crossover_lies_near_64_to_128_for_64_keys() -> None:
    found = [theory.crossover(theory.drawn(seed=seed, widths=(32, 64, 128, 256))) for seed in SEEDS]
    assert 50 < float(np.median(np.array(found, float))) < 128
    assert theory.crossover(theory.drawn(widths=(4, 8))) is None  # unscaled is larger at both
    assert theory.crossover(theory.drawn(widths=(512, 1024))) is None  # and smaller at both


@pytest.mark.parametrize("size", [0.1, 1.0, 6.0])
def test_both_norms_are_autograd_s(size: float) -> None:
    generator = torch.Generator().manual_seed(0)
    keys = torch.randn(7, 5, generator=generator, dtype=torch.float64)
    query = size * torch.randn(5, generator=generator, dtype=torch.float64)
    by_scores = torch.func.jacrev(lambda s: s.softmax(dim=-1))(keys @ query)
    by_query = torch.func.jacrev(lambda q: (keys @ q).softmax(dim=-1))(query)
    scores = (keys @ query).numpy()
    distances = torch.cdist(keys, keys).square().numpy()
    weights = theory.softmax(scores)
    assert jacobian_norm(weights) == pytest.approx(float(by_scores.norm()), rel=1e-12)
    assert theory.query_gradient_norm(weights[None], distances)[0] == pytest.approx(float(by_query.norm()), rel=1e-9)
    written = np.diag(weights) - np.outer(weights, weights)  # claim 24: p_i (delta_ij - p_j)
    assert_close(written, by_scores, relative=1e-12)


def test_a_saturated_row_keeps_its_digits() -> None:
    scores = np.array([0.0, 80.0, 1.0])  # p rounds to 1, and 1 - p = e^-80 + e^-79
    left = np.exp(-80) + np.exp(-79)
    expected = np.sqrt(left**2 + 2 * (np.exp(-160) + np.exp(-158)) + np.exp(-160) + np.exp(-158))
    assert jacobian_norm(theory.softmax(scores)) == pytest.approx(expected, rel=1e-12)
    keys = np.array([[1.0], [4.0], [-1.0]])
    distances = np.square(keys - keys.T)
    rest = np.exp(-80) * -3.0 + np.exp(-79) * -5.0  # of k_i - m for the largest
    gradient = np.sqrt(rest**2 + (np.exp(-80) * 3) ** 2 + (np.exp(-79) * 5) ** 2)
    assert theory.query_gradient_norm(theory.softmax(scores)[None], distances)[0] == pytest.approx(gradient, rel=1e-12)


def test_the_example_of_the_notes() -> None:
    found = theory.example(keys=64, width=64, sigmas=1.0)
    assert found.score == 8
    assert found.weight == pytest.approx(np.exp(8) / (np.exp(8) + 63), rel=1e-12)
    assert round(found.weight, 4) == 0.9793
    assert round(theory.example(keys=10).weight, 3) == 0.997
    assert round(theory.example(keys=512).weight, 3) == 0.854
    assert (round(found.slope, 4), round(found.uniform_slope, 4)) == (0.0203, 0.0154)
    assert (round(found.jacobian, 3), round(found.uniform_jacobian, 3)) == (0.021, 0.124)
    assert found.uniform_jacobian == pytest.approx(float(jacobian_norm(np.full(64, 1 / 64))), rel=1e-12)
    assert found.drawn_largest == pytest.approx(0.794, rel=0.02)
    assert found.drawn_weight < 0.01  # among others of the same spread, 8 is nothing special
    assert found.scaled_weight == pytest.approx(np.e / (np.e + 63), rel=1e-12)


def test_without_projections_a_token_sees_itself() -> None:
    """Claim 31: the mean diagonal of softmax(x x^T / sqrt(d)), d = 512, normal entries; 32 and 64 tokens."""
    for keys in (32, 64):
        assert theory.itself(keys=keys, width=512) == pytest.approx(1.0, abs=5e-5)
    x = np.random.default_rng([0, 8, 4]).standard_normal((4, 8, 4))
    by_torch = torch.softmax(torch.tensor(x @ x.transpose(0, 2, 1)) / 2, dim=-1).diagonal(dim1=-2, dim2=-1).mean()
    assert theory.itself(keys=8, width=4) == pytest.approx(float(by_torch), rel=1e-12)


def test_ten_is_one_deviation_at_a_width_of_100() -> None:
    assert theory.example(width=100).sigma == 10
    assert theory.outside(1) == pytest.approx(2 * ndtr(-1), rel=1e-12)
    assert theory.outside(10) == pytest.approx(1.5e-23, rel=0.05)


def test_what_cannot_be_drawn_is_named() -> None:
    for keys, sentence in ((1, "1 keys; they go from 2"), (10_000, "10000 keys")):
        with pytest.raises(ValueError, match=sentence):
            theory.drawn(keys=keys)
        with pytest.raises(ValueError, match=sentence):
            theory.example(keys=keys)
    with pytest.raises(ValueError, match="d_k is 0"):
        theory.example(width=0)


def test_widths_double_from_4_to_4096() -> None:
    assert (theory.WIDTHS[0], theory.WIDTHS[-1]) == (4, 4096)
    assert all(after == 2 * before for before, after in pairwise(theory.WIDTHS))


def test_the_crossing_lies_where_numpy_interpolates_the_ratio_to_1() -> None:
    widths, ratios = np.array([4.0, 16.0, 64.0, 256.0]), np.array([3.0, 2.0, 0.25, 0.1])
    table = pd.DataFrame({"width": widths, "jacobian_median": 0.2 * ratios, "scaled_jacobian_median": 0.2})
    expected = np.exp(np.interp(0.0, -np.log(ratios), np.log(widths)))
    assert theory.crossover(table) == pytest.approx(expected, rel=1e-12)
    assert theory.crossover(table[:2]) is None
