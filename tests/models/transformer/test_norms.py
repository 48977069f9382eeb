from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from models.transformer.norms import BatchNorm, LayerNorm, NoNorm, RMSNorm, make_norm
from tests.closeness import assert_close, relative_error


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
    assert_close(own(x), reference(x), relative=tolerance)


@torch.no_grad()
def test_equals_the_paper_in_numpy():
    torch.manual_seed(1)
    own, _ = pair(24, 1e-5, torch.float64)
    x = 3 * torch.randn(5, 24, dtype=torch.float64) + 2
    for row, result in zip(x.numpy(), own(x).numpy(), strict=True):
        mean = sum(row) / 24
        variance = sum((value - mean) ** 2 for value in row) / 24
        expected = own.gamma.numpy() * (row - mean) / np.sqrt(variance + 1e-5) + own.beta.numpy()
        assert_close(result, expected, relative=1e-12)


@torch.no_grad()
def test_equal_features_become_beta():
    own, _ = pair(8, 1e-12, torch.float32)
    assert_close(own(torch.full((3, 8), 5.0)), own.beta.expand(3, 8), relative=0)


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
        assert_close(a, b, relative=1e-12)


@pytest.mark.parametrize(("width", "epsilon"), [(0, 1e-5), (8, 0.0), (8, -1.0)])
def test_bad_sizes_are_named(width, epsilon):
    with pytest.raises(ValueError, match=f"width {width} and epsilon {epsilon}"):
        LayerNorm(width, epsilon)


@torch.no_grad()
def test_the_fused_kernel_of_training_is_the_same_function():
    own, _ = pair(48, 1e-5, torch.float64)
    x = torch.randn(4, 48, dtype=torch.float64)
    with torch.enable_grad():
        trained = own(x.clone().requires_grad_()).detach()
    assert_close(trained, own(x), relative=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@torch.no_grad()
def test_rms_norm_equals_torch(dtype, tolerance):
    torch.manual_seed(3)
    own, reference = RMSNorm(24, 1e-5).to(dtype), nn.RMSNorm(24, eps=1e-5, dtype=dtype)
    own.gamma.copy_(torch.randn(24))
    reference.weight.copy_(own.gamma)
    x = 3 * torch.randn(2, 7, 24, dtype=dtype) + 1
    assert_close(own(x), reference(x), relative=tolerance * 4)


@pytest.mark.parametrize("masked", [True, False])
def test_batch_norm_equals_torch_on_the_tokens_that_count(masked):
    """torch's BatchNorm1d over a list of tokens: all of them, or those without padding; then the averages in eval."""
    torch.manual_seed(4)
    own, reference = BatchNorm(6, 1e-5, masked=masked).double(), nn.BatchNorm1d(6, eps=1e-5, dtype=torch.float64)
    keep = torch.arange(5) < torch.tensor([5, 2, 3])[:, None]
    counted = keep if masked else torch.ones_like(keep)
    for _ in range(3):
        x = 2 * torch.randn(3, 5, 6, dtype=torch.float64) + 1
        assert_close(own(x, keep=keep)[counted], reference(x[counted]), relative=1e-12)
    own.eval(), reference.eval()
    assert_close(own(x, keep=keep)[counted], reference(x[counted]), relative=1e-12)


@torch.no_grad()
def test_padding_moves_batch_norm_unless_it_is_masked():
    """Ten texts of 5 tokens padded to 20: the pads change a BatchNorm that counts them, and nothing else."""
    torch.manual_seed(5)
    short = torch.randn(10, 5, 4)
    padded = torch.cat([short, torch.zeros(10, 15, 4)], dim=1)
    keep = torch.arange(20).expand(10, 20) < 5
    off = {}
    for norm in ("batch", "masked_batch", "layer", "rms"):
        module = make_norm(norm, 4, 1e-5)
        off[norm] = relative_error(module(padded, keep=keep)[:, :5], module(short))
    assert off.pop("batch") > 0.2
    assert all(error < 1e-5 for error in off.values())


def test_batch_norm_of_one_token_is_refused():
    norm = BatchNorm(4, 1e-5, masked=True)
    with pytest.raises(ValueError, match=r"BatchNorm over 1 token: .* at least 2 tokens, or choose norm='layer'"):
        norm(torch.randn(1, 1, 4))
    with pytest.raises(ValueError, match="over 1 token"):
        norm(torch.randn(1, 3, 4), keep=torch.tensor([[True, False, False]]))
    assert norm.eval()(torch.randn(1, 1, 4)).shape == (1, 1, 4)


def test_each_name_has_its_norm():
    names = ("layer", "rms", "batch", "masked_batch", "none")
    assert [type(make_norm(name, 4, 1e-5)) for name in names] == [LayerNorm, RMSNorm, BatchNorm, BatchNorm, NoNorm]
    x = torch.randn(2, 3, 4)
    assert make_norm("none", 4, 1e-5)(x) is x


@pytest.mark.parametrize("training", [True, False])
@torch.no_grad()
def test_batch_norm_scales_and_shifts_as_torchs_does(training):
    """Gamma and beta are as after training, for at 1 and 0 neither is seen."""
    torch.manual_seed(6)
    own, reference = BatchNorm(6, 1e-5, masked=False).double(), nn.BatchNorm1d(6, eps=1e-5, dtype=torch.float64)
    for ours, theirs in (
        *((own.gamma, reference.weight), (own.beta, reference.bias)),
        *((own.running_mean, reference.running_mean), (own.running_variance, reference.running_var)),
    ):
        theirs.copy_(torch.rand(6) + 0.5)
        ours.copy_(theirs)
    x = 2 * torch.randn(3, 5, 6, dtype=torch.float64) + 1
    expected = reference.train(training)(x.flatten(0, 1)).numpy()
    found = own.train(training)(x).flatten(0, 1).numpy()
    assert_close(found, expected, relative=1e-12)
