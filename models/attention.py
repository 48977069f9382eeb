"""Attention: the function (scores, softmax, mix), the way it is run (`attend`), and the multi-head module around it.

Every attention call of every model in Headlight, the project's own and transformers' alike, goes through `attend`.
It runs in blocks of query rows, so that memory grows with the text and not with its square, and it is the one seam
where a recording can watch (`watch`): outside a recording nothing happens there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from models.masks import Mask

BLOCK = 128  # query rows at once: at 128 the scores of a head stay in a core's cache


class AttentionFunction(Protocol):
    """What one head does with its queries, keys and values."""

    @property
    def scale(self) -> float | None:
        """The factor on query . key; None where the function is more than a scaled dot product."""
        ...

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """query [B, H, Q, E] (the rows `rows` of all), key and value [B, K, T, E], mask boolean [B, H, Q, T]
        -> output [B, H, Q, E] and weights [B, H, Q, T]."""
        ...


@dataclass(frozen=True)
class DotProductAttention:
    """softmax(Q K^T * scale) V, with scale = 1/sqrt(E) (Vaswani et al. 2017, eq. 1)."""

    scale: float

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """query [B, H, Q, E], key and value [B, H, T, E] -> output [B, H, Q, E], weights [B, H, Q, T]."""
        scores = query @ key.transpose(-2, -1) * self.scale  # [B, H, Q, T]
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ value, weights


@dataclass(frozen=True)
class AttentionCall:
    """All that one attention call was given, and so all that is needed to compute its weights again.

    query [B, H, Q, E], key and value [B, K, T, E].
    """

    function: AttentionFunction
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Mask | None


# Context variables, not globals: two visitors share one loaded model, each thread sees its own.
_watcher: ContextVar[Callable[[AttentionCall], None] | None] = ContextVar("attention_watcher", default=None)
_fused: ContextVar[bool] = ContextVar("attention_fused", default=False)


@contextmanager
def watch(watcher: Callable[[AttentionCall], None]) -> Iterator[None]:
    """Call `watcher` with every attention call made inside the block, by this thread alone."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def fused() -> Iterator[None]:
    """Inside the block attention runs in torch's fused kernel: an independent implementation to check against."""
    token = _fused.set(True)
    try:
        yield
    finally:
        _fused.reset(token)


def attend(
    function: AttentionFunction, query: Tensor, key: Tensor, value: Tensor, *, mask: Mask | None = None
) -> Tensor:
    """Attention of all queries, computed in blocks of rows.

    query [B, H, Q, E], key and value [B, K, T, E] -> [B, H, Q, E].
    """
    watcher = _watcher.get()
    if watcher is not None:
        watcher(AttentionCall(function, query, key, value, mask))
    queries = query.shape[2]
    if _fused.get():
        return _attend_fused(function, query, key, value, None if mask is None else mask.rows(0, queries))
    blocks = []
    for start in range(0, queries, BLOCK):
        rows = slice(start, min(start + BLOCK, queries))
        allowed = None if mask is None else mask.rows(rows.start, rows.stop)
        blocks.append(function(query[:, :, rows], key, value, allowed, rows=rows)[0])
    return blocks[0] if len(blocks) == 1 else torch.cat(blocks, dim=2)


def _attend_fused(
    function: AttentionFunction, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
) -> Tensor:
    if function.scale is None:
        raise ValueError(
            f"{type(function).__name__} is more than a scaled dot product, so torch's fused kernel cannot check it"
        )
    return scaled_dot_product_attention(
        query, key, value, attn_mask=mask, scale=function.scale, enable_gqa=key.shape[1] != query.shape[1]
    )


class MultiHeadAttention(nn.Module):
    """Project to H heads, attend in each, concatenate, project back (Vaswani et al. 2017, section 3.2.2).

    MultiHead(x, c) = Concat(head_1 .. head_H) W_O,  head_i = Attention(x W_Q^i, c W_K^i, c W_V^i)

    Shapes: B batch, H heads, Q query positions, T key positions, D width, E = D / H head width.
    """

    def __init__(self, width: int, heads: int, *, bias: bool = True) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise ValueError(
                f"width {width} does not divide into {heads} heads; choose a width that is a multiple of the heads"
            )
        self.heads = heads
        self.query = nn.Linear(width, width, bias=bias)
        self.key = nn.Linear(width, width, bias=bias)
        self.value = nn.Linear(width, width, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)
        self.function: AttentionFunction = DotProductAttention(scale=(width // heads) ** -0.5)

    def forward(self, x: Tensor, context: Tensor | None = None, *, mask: Mask | None = None) -> Tensor:
        """x [B, Q, D], context [B, T, D] (x itself in self-attention) -> [B, Q, D]."""
        context = x if context is None else context
        query = self.split_heads(self.query(x))  # [B, H, Q, E]
        key = self.split_heads(self.key(context))  # [B, H, T, E]
        value = self.split_heads(self.value(context))  # [B, H, T, E]
        heads = attend(self.function, query, key, value, mask=mask)  # [B, H, Q, E]
        out: Tensor = self.out(heads.transpose(1, 2).flatten(start_dim=2))  # [B, Q, D]
        return out

    def split_heads(self, x: Tensor) -> Tensor:
        """[B, Q, D] -> [B, H, Q, E]: head h owns the features h*E .. (h+1)*E."""
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(1, 2)
