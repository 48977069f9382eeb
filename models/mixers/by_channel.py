"""Mixers with a map for each channel: Mamba's selective scan, RWKV-4's WKV, LFM's gated short convolution.

A layer has thousands of channels, and each has a map of its own; a core computes those that are chosen.

Mamba (Gu & Dao 2023): channel c has a state of N numbers, which decay by exp(A_cn dt_t), are written with dt_t B_tn x_t
and read with C_tn, so that with Z the sum of dt up to a token,

    M_ij = sum_n C_in B_jn exp(A_cn (Z_i - Z_j)) dt_j + D_c [i = j]    for j <= i.

RWKV-4 (Peng et al. 2023): a softmax over the tokens so far, with a decay w_c by distance and a bonus u_c for the token
itself: scores k_j + (i - 1 - j) w_c for j < i, and k_i + u_c. Rows sum to 1.

LFM2's short convolution (Liquid AI 2025): M_ij = C_i w_(i-j) B_j for the last few tokens, gates inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

from models.mixers.decaying_state import CHUNK, DecayingState


@dataclass(frozen=True)
class SelectiveScan:
    """Mamba's scan: step, dt above, [T, H]; rate, A, [H, N]; write, B, and read, C, [T, N]; skip, D, [H] or None.

    H are channels, N is the size of a channel's state.
    """

    step: Tensor
    rate: Tensor
    write: Tensor
    read: Tensor
    skip: Tensor | None

    by_token: ClassVar[tuple[str, ...]] = ("step", "write", "read")

    def of_heads(self, heads: Sequence[int]) -> SelectiveScan:
        """Return the core of some channels alone."""
        chosen = list(heads)
        skip = None if self.skip is None else self.skip[chosen]
        return replace(self, step=self.step[:, chosen], rate=self.rate[chosen], skip=skip)

    def blocks(self, *, queries: slice) -> Iterator[tuple[slice, Tensor]]:
        """Compute maps in blocks of rows, see `Core`."""
        return self.state().blocks(queries=queries)

    def state(self) -> DecayingState:
        """The scan as a state that decays by the dimension, where a channel is a head."""
        step = self.step.double()
        decay = step[..., None] * self.rate.double()  # [T, H, N]
        return DecayingState(self.read[:, None], self.write[:, None], decay, step, skip=self.skip)


@dataclass(frozen=True)
class PastSoftmax:
    """RWKV-4's WKV: key [T, H]; decay w (negative) and bonus u, [H]."""

    key: Tensor
    decay: Tensor
    bonus: Tensor

    by_token: ClassVar[tuple[str, ...]] = ("key",)

    def of_heads(self, heads: Sequence[int]) -> PastSoftmax:
        """Return the core of some channels alone."""
        chosen = list(heads)
        return PastSoftmax(self.key[:, chosen], self.decay[chosen], self.bonus[chosen])

    @torch.no_grad()
    def blocks(self, *, queries: slice) -> Iterator[tuple[slice, Tensor]]:
        """Compute maps in blocks of rows, see `Core`."""
        key, decay, bonus = (tensor.double() for tensor in (self.key, self.decay, self.bonus))
        for rows in chunks(queries, tokens=len(key)):
            between = distances(rows)
            scores = key[: rows.stop].T[:, None] + (between - 1) * decay[:, None, None]
            own = key[rows].T[:, :, None] + bonus[:, None, None]
            scores = torch.where(between == 0, own, scores).masked_fill(between < 0, float("-inf"))
            yield rows, scores.softmax(dim=-1)


@dataclass(frozen=True)
class GatedConvolution:
    """LFM's short convolution: gate_in, B above, and gate_out, C, [T, H]; kernel [H, L], the latest token last."""

    gate_in: Tensor
    gate_out: Tensor
    kernel: Tensor

    by_token: ClassVar[tuple[str, ...]] = ("gate_in", "gate_out")

    def of_heads(self, heads: Sequence[int]) -> GatedConvolution:
        """Return the core of some channels alone."""
        chosen = list(heads)
        return GatedConvolution(self.gate_in[:, chosen], self.gate_out[:, chosen], self.kernel[chosen])

    @torch.no_grad()
    def blocks(self, *, queries: slice) -> Iterator[tuple[slice, Tensor]]:
        """Compute maps in blocks of rows, see `Core`."""
        gate_in, gate_out, kernel = (tensor.double().T for tensor in (self.gate_in, self.gate_out, self.kernel))
        width = len(kernel)
        for rows in chunks(queries, tokens=gate_in.shape[1]):
            between = distances(rows)
            reached = (between >= 0) & (between < width)
            weights = kernel.T[:, (width - 1 - between).clamp(0, width - 1)] * reached
            yield rows, gate_out[:, rows, None] * weights * gate_in[:, None, : rows.stop]


def chunks(queries: slice, *, tokens: int) -> Iterator[slice]:
    """Yield the blocks of CHUNK rows, counted from the first token, that hold any of the queries."""
    for start in range(queries.start // CHUNK * CHUNK, min(queries.stop, tokens), CHUNK):
        yield slice(start, min(start + CHUNK, tokens))


def distances(rows: slice) -> Tensor:
    """Tokens from a key to a query, [rows, keys up to the last row]; negative for later keys."""
    return torch.arange(rows.start, rows.stop)[:, None] - torch.arange(rows.stop)
