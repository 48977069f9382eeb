from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from models.norms import LayerNorm


def pair(width, epsilon, dtype):
    """The own norm and torch's, with the same random gamma and beta."""
    own, reference = LayerNorm(width, epsilon).to(dtype), nn.LayerNorm(width, eps=epsilon, dtype=dtype)
    with torch.no_grad():
        own.gamma.copy_(torch.randn(width))
        own.beta.copy_(torch.randn(width))
        reference.weight.copy_(own.gamma)
        reference.bias.copy_(own.beta)
    return own, reference


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("epsilon", [1e-12, 1e-5, 0.1])
@torch.no_grad()
def test_equals_torch(epsilon, dtype, tolerance):
    torch.manual_seed(0)
    own, reference = pair(48, epsilon, dtype)
    x = torch.randn(2, 7, 48, dtype=dtype)
    torch.testing.assert_close(own(x), reference(x), rtol=0, atol=tolerance)


@torch.no_grad()
def test_equals_the_paper_in_numpy():
    torch.manual_seed(1)
    own, _ = pair(24, 1e-5, torch.float64)
    x = 3 * torch.randn(5, 24, dtype=torch.float64) + 2
    for row, result in zip(x.numpy(), own(x).numpy(), strict=True):
        mean = sum(row) / 24
        variance = sum((value - mean) ** 2 for value in row) / 24
        expected = own.gamma.numpy() * (row - mean) / np.sqrt(variance + 1e-5) + own.beta.numpy()
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


@torch.no_grad()
def test_equal_features_become_beta():
    own, _ = pair(8, 1e-12, torch.float32)
    torch.testing.assert_close(own(torch.full((3, 8), 5.0)), own.beta.expand(3, 8), rtol=0, atol=0)


def test_starts_as_the_identity_scale_and_shift_and_learns_both():
    norm = LayerNorm(4, 1e-5)
    assert norm.gamma.tolist() == [1, 1, 1, 1]
    assert norm.beta.tolist() == [0, 0, 0, 0]
    assert [name for name, _ in norm.named_parameters()] == ["gamma", "beta"]


def test_gradients_equal_those_of_torch():
    torch.manual_seed(2)
    own, reference = pair(16, 1e-5, torch.float64)
    x = torch.randn(3, 16, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(3, 16, dtype=torch.float64)
    ours = torch.autograd.grad((own(x) * weights).sum(), [x, own.gamma, own.beta])
    theirs = torch.autograd.grad((reference(x) * weights).sum(), [x, reference.weight, reference.bias])
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("width", "epsilon"), [(0, 1e-5), (8, 0.0), (8, -1.0)])
def test_bad_sizes_are_named(width, epsilon):
    with pytest.raises(ValueError, match=f"width {width} and epsilon {epsilon}"):
        LayerNorm(width, epsilon)
