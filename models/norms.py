"""Layer normalization: every token's features are brought to mean 0 and variance 1, then scaled and shifted."""

from __future__ import annotations

import torch
from torch import Tensor, nn


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

    def forward(self, x: Tensor) -> Tensor:
        """x [..., D] -> [..., D]."""
        centred = x - x.mean(dim=-1, keepdim=True)  # [..., D]
        variance = centred.square().mean(dim=-1, keepdim=True)  # [..., 1]; x.var is several times slower
        return centred * torch.rsqrt(variance + self.epsilon) * self.gamma + self.beta
