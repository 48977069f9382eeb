"""Attention calls of queries and keys that a test makes: one plain scaled dot product, with as many heads as wished."""

from __future__ import annotations

from torch import Tensor

from inspector.trace import AttentionRecord, AttentionSite
from models.attention import DotProductAttention


def record(query: Tensor, key: Tensor) -> AttentionRecord:
    """Record softmax(Q K^T / sqrt(d_k)) V of query and key [H, T, E], without a mask; the values are the keys."""
    tokens = tuple(f"t{place}" for place in range(query.shape[1]))
    site = AttentionSite("encoder", 0, len(query), tokens, tokens)
    return AttentionRecord(site, DotProductAttention(query.shape[-1] ** -0.5), query, key, key, None)
