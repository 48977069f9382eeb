from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from models.attention.scores import (
    AdditiveScore,
    CosineScore,
    DotScore,
    FillWith,
    GeneralScore,
    MultiplyByZero,
    NaiveAdditiveScore,
)
from models.transformer.learned_attention import additive_tensors
from tests.closeness import assert_close

HEADS, WIDTH = 3, 4
ROWS = slice(0, 5)


@pytest.fixture
def query():
    return torch.randn(2, HEADS, 5, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def key():
    return torch.randn(2, HEADS, 6, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def cell_by_cell(query, key, formula):
    """formula(head, q, k) on numpy vectors, for every pair."""
    scores = np.empty((2, HEADS, query.shape[2], key.shape[2]))
    for b, h, i, j in np.ndindex(*scores.shape):
        scores[b, h, i, j] = formula(h, query[b, h, i].numpy(), key[b, h, j].numpy())
    return scores


def doubles(tensors):
    return {name: tensor.double() for name, tensor in tensors.items()}


def test_dot_and_cosine(query, key):
    expected = cell_by_cell(query, key, lambda _, q, k: float(q @ k))
    assert_close(DotScore()(query, key, ROWS), expected, relative=1e-12)
    expected = cell_by_cell(query, key, lambda _, q, k: float(q @ k) / math.hypot(*q) / math.hypot(*k))
    assert_close(CosineScore()(query, key, ROWS), expected, relative=1e-12)
    assert np.abs(expected).max() <= 1


def test_general(query, key):
    weight = torch.randn(HEADS, WIDTH, WIDTH, dtype=torch.float64)
    expected = cell_by_cell(query, key, lambda h, q, k: float(q @ weight[h].numpy() @ k))
    assert_close(GeneralScore(weight)(query, key, ROWS), expected, relative=1e-12)


def test_additive_in_both_forms_is_bahdanaus_equation(query, key):
    torch.manual_seed(2)
    tensors = doubles(additive_tensors(None, heads=HEADS, width=WIDTH))
    tensors["bias"] += torch.randn(HEADS, WIDTH)
    w_q, w_k, b, v = (tensors[name].numpy() for name in ("query_weight", "key_weight", "bias", "v"))
    expected = cell_by_cell(query, key, lambda h, q, k: float(v[h] @ np.tanh(w_q[h] @ q + w_k[h] @ k + b[h])))
    assert_close(AdditiveScore(**tensors)(query, key, ROWS), expected, relative=1e-12)
    assert_close(NaiveAdditiveScore(**tensors)(query, key, ROWS), expected, relative=1e-12)


def test_factorised_costs_far_fewer_multiplications_than_naive():
    """64 tokens, width 64, one head: n^2 * 2d * d * 2 FLOPs against 2 * n d^2 * 2 + n^2 d * 2."""
    torch.manual_seed(3)
    tensors, x = additive_tensors(None, heads=1, width=64), torch.randn(1, 1, 64, 64)
    counts = []
    for kind in (AdditiveScore, NaiveAdditiveScore):
        with FlopCounterMode(display=False) as counter:
            kind(**tensors)(x, x, slice(0, 64))
        counts.append(counter.get_total_flops())
    assert counts[0] in (2 * 2 * 64 * 64**2, 2 * 2 * 64 * 64**2 + 2 * 64**2 * 64)  # v's product is a matmul or a sum
    assert counts[1] >= 64 * 64 * 2 * (2 * 64) * 64
    assert counts[1] / counts[0] > 30


def test_fills_leave_behind_what_the_exponential_says():
    """Four keys with score 0, two of them masked: exactly 0, e^-10 or, multiplied by zero, a full share."""
    scores, mask = torch.zeros(1, 1, 1, 4), torch.tensor([True, True, False, False])
    for fill, leaked in ((FillWith(-math.inf), 0.0), (FillWith(-10.0), math.exp(-10)), (MultiplyByZero(), 1.0)):
        weights = torch.softmax(fill(scores, mask), dim=-1).flatten().tolist()
        assert_close(weights[2], leaked / (2 + 2 * leaked), relative=1e-6)
        assert sum(weights) == pytest.approx(1)
