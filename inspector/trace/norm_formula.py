"""The formulas of norms: LayerNorm, RMSNorm with or without a gate, BatchNorm with the statistics of its training.

Shapes: D width. All act on the last axis.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, rms_norm, silu

Gating = Literal["", "silu before", "silu after", "sigmoid before", "sigmoid after"]
GATINGS: tuple[Gating, ...] = ("silu before", "silu after", "sigmoid before", "sigmoid after")
_ROUNDINGS = 16  # of the largest term: the sums' own, the root, the products; of 150 families the worst took 4


def normalise(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    kind: str,
    epsilon: float,
    groups: int = 1,
    gate: Tensor | None = None,
    gating: Gating = "",
    running: Tensor | None = None,
) -> Tensor:
    """x [..., D], gamma and beta [D] -> [..., D].

    kind "layer": gamma (x - mean) / sqrt(variance + epsilon) + beta (Ba et al. 2016); "rms": gamma x / sqrt(mean(x^2) +
    epsilon) (Zhang & Sennrich 2019), in each of `groups` equal parts of the features alone. gating: the gate [..., D]
    multiplies x before, or the result after, through its SiLU or sigmoid (Mamba-2, Dao & Gu 2024). "batch": gamma (x -
    m) / sqrt(v + epsilon) + beta, where running [2, D] holds each dimension's mean m and variance v, as it was kept in
    training (Ioffe & Szegedy 2015): no statistic of this text.
    """
    factor = None if gate is None or not gating else (silu if gating.startswith("silu") else torch.sigmoid)(gate)
    if factor is not None and gating.endswith("before"):
        x = x * factor
    if kind == "batch":
        if running is None:
            raise ValueError("a BatchNorm in eval mode has running statistics, and there are none")
        out = gamma * (x - running[0]) * torch.rsqrt(running[1] + epsilon) + beta
    elif kind == "layer":
        out = layer_norm(x, gamma.shape, gamma, beta, epsilon)
    elif groups == 1:
        out = rms_norm(x, gamma.shape, gamma, epsilon)
    else:
        parts = x.view(*x.shape[:-1], groups, -1)
        out = gamma * rms_norm(parts, parts.shape[-1:], None, epsilon).flatten(-2)
    return out * factor if factor is not None and gating.endswith("after") else out


def rounding(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    kind: str,
    epsilon: float,
    digits: float,
    running: Tensor | None = None,
) -> Tensor:
    """Return how far rounding can move two computations of a norm apart, for each vector of x [..., D]: [...].

    Sixteen last digits of the largest term, gamma |x| / deviation + beta: where a LayerNorm's mean is large against its
    deviation, little is left when it is taken off. digits: eps of the dtype in which the model computes.
    """
    if running is not None:
        terms = gamma.abs() * (x.abs() + running[0].abs()) * torch.rsqrt(running[1] + epsilon) + beta.abs()
        return _ROUNDINGS * digits * terms.amax(dim=-1)
    centred = x - x.mean(dim=-1, keepdim=True) if kind == "layer" else x
    spread = centred.square().mean(dim=-1)  # x.var takes several times as long
    largest = x.abs().amax(dim=-1) / (spread + epsilon).sqrt() * gamma.abs().max() + beta.abs().max()
    return _ROUNDINGS * digits * largest
