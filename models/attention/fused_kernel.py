"""An attention call in torch's fused kernel, which shares no code with the functions that are recorded."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from models.attention.functions import AttentionFunction, DotProductAttention
from models.attention.masks import CausalMask, Mask
from models.attention.side_keys import SideKeyAttention


def attend_fused(function: AttentionFunction, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None) -> Tensor:
    """Attend in the kernel: query [B, H, Q, E], key and value [B, K, T, E] -> output [B, H, Q, E].

    Raises ValueError for a function that is more than a scaled dot product with a bias, or with side keys beside it.
    """
    if query.dtype == torch.bfloat16 and query.device.type == "cpu" and query.requires_grad:
        with torch.autocast("cpu", enabled=False):  # the kernel's backward pass is three times slower in bfloat16
            return attend_fused(function, query.float(), key.float(), value.float(), mask).to(query)
    if isinstance(function, SideKeyAttention):
        return _with_side_keys(function, query, key, value, mask)
    if function.scale is None:
        raise ValueError(
            f"{type(function).__name__} is more than a scaled dot product with a bias, so torch's fused kernel cannot "
            "check it"
        )
    rows = slice(0, query.shape[2])
    causal = mask == CausalMask(keys=query.shape[2])  # the kernel then skips the half that is masked
    added = function.added(rows, key.shape[2])
    allowed = None if mask is None or (causal and added is None) else mask.rows(0, rows.stop).to(query.device)
    if added is not None:
        added = added.to(query)
        allowed = added if allowed is None else added.masked_fill(~allowed, float("-inf"))
    return scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=allowed,
        dropout_p=function.dropout if isinstance(function, DotProductAttention) else 0.0,
        is_causal=causal and added is None,
        scale=function.scale,
        enable_gqa=key.shape[1] != query.shape[1],
    )


def _with_side_keys(function: SideKeyAttention, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None) -> Tensor:
    """Attend with the side keys behind the tokens' keys."""
    rows = slice(0, query.shape[2])
    added = function.added(rows, key.shape[2])
    bias = query.new_zeros(*query.shape[:3], key.shape[2]) + (0 if added is None else added.to(query))
    if mask is not None:
        bias = bias.masked_fill(~mask.rows(0, rows.stop).to(query.device), float("-inf"))
    beside = query.new_zeros(*query.shape[:3], function.side_key.shape[2])
    if function.side_bias is not None:
        beside = function.side_bias(rows).to(query)
    return scaled_dot_product_attention(
        query,
        torch.cat([key, function.side_key], dim=2),
        torch.cat([value, function.side_value], dim=2),
        attn_mask=torch.cat([bias, beside], dim=-1),
        scale=function.factor,
    )
