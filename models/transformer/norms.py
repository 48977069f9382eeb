"""Norms: a token's features, or a feature's tokens, are brought to one size, then scaled.

Every norm takes `keep` [B, T], False on padding, beside its input; only the masked BatchNorm looks at it, for only
BatchNorm looks at other tokens at all.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, rms_norm

from models.transformer.config import Norm


class LayerNorm(nn.Module):
    """LayerNorm(x) = gamma * (x - mean) / sqrt(variance + epsilon) + beta (Ba et al. 2016, eqs. 3 and 4).

    Mean and (biased) variance are taken over a token's own D features: no other token and no other text
    of the batch has a part in them. gamma [D] starts at 1, beta [D] at 0.
    """

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        if width < 1 or not epsilon > 0:
            raise ValueError(
                f"LayerNorm of width {width} and epsilon {epsilon}; width must be at least 1, epsilon above 0"
            )
        self.epsilon = epsilon
        self.gamma = nn.Parameter(torch.ones(width))
        self.beta = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """x [..., D] -> [..., D]."""
        # Training: the same function in one kernel, which keeps less for the backward pass. Half precision: that kernel
        # sums in float32, and squares do not overflow.
        if x.requires_grad or x.dtype.itemsize < 4:
            return layer_norm(x, self.gamma.shape, self.gamma, self.beta, self.epsilon)
        centred = x - x.mean(dim=-1, keepdim=True)  # [..., D]
        variance = centred.square().mean(dim=-1, keepdim=True)  # [..., 1]; x.var is several times slower
        return centred * torch.rsqrt(variance + self.epsilon) * self.gamma + self.beta


class RMSNorm(nn.Module):
    """RMSNorm(x) = gamma * x / sqrt(mean(x^2) + epsilon) (Zhang & Sennrich 2019, eq. 4).

    LayerNorm without the mean and the shift: what lies along (1, 1, .. 1) stays. gamma [D] starts at 1.
    """

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """x [..., D] -> [..., D]."""
        if x.dtype.itemsize < 4:  # half precision: the same function, summed in float32
            return rms_norm(x, self.gamma.shape, self.gamma, self.epsilon)
        mean_square = x.square().mean(dim=-1, keepdim=True)  # [..., 1]
        return x * torch.rsqrt(mean_square + self.epsilon) * self.gamma


class BatchNorm(nn.Module):
    """BatchNorm(x) = gamma * (x - mean) / sqrt(variance + epsilon) + beta (Ioffe & Szegedy 2015), over tokens.

    Each feature's mean and variance are taken over all tokens of all texts of the batch, so every token depends on
    every other. In eval mode they are the running averages of training instead. Padding counts too unless `masked`.
    """

    def __init__(self, width: int, epsilon: float, *, masked: bool, momentum: float = 0.1) -> None:
        super().__init__()
        self.epsilon, self.masked, self.momentum = epsilon, masked, momentum
        self.gamma = nn.Parameter(torch.ones(width))
        self.beta = nn.Parameter(torch.zeros(width))
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_variance", torch.ones(width))
        self.running_mean: Tensor
        self.running_variance: Tensor

    def forward(self, x: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """x [B, T, D], keep [B, T] -> [B, T, D]."""
        mean, variance = self.running_mean, self.running_variance
        if self.training:
            tokens = x[keep] if self.masked and keep is not None else x.flatten(end_dim=-2)  # [N, D]
            if len(tokens) < 2:
                raise ValueError(
                    f"BatchNorm over {len(tokens)} token: its variance is 0 whatever the token is; train on batches of "
                    "at least 2 tokens, or choose norm='layer'"
                )
            mean, variance = tokens.mean(dim=0), tokens.var(dim=0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
                self.running_variance.lerp_(tokens.var(dim=0), self.momentum)  # the unbiased one
        return (x - mean) * torch.rsqrt(variance + self.epsilon) * self.gamma + self.beta


class NoNorm(nn.Module):
    """x as it is."""

    def forward(self, x: Tensor, *, keep: Tensor | None = None) -> Tensor:
        """x [..., D] -> [..., D]."""
        return x


def make_norm(norm: Norm, width: int, epsilon: float) -> LayerNorm | RMSNorm | BatchNorm | NoNorm:
    """The norm of that name over D features."""
    match norm:
        case "layer":
            return LayerNorm(width, epsilon)
        case "rms":
            return RMSNorm(width, epsilon)
        case "batch" | "masked_batch":
            return BatchNorm(width, epsilon, masked=norm == "masked_batch")
        case "none":
            return NoNorm()
