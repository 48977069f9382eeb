"""An attention call in torch's fused kernel, which shares no code with the functions that are recorded."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from models.attention.functions import AttentionFunction, DotProductAttention, SideKeys
from models.attention.masks import CausalMask, Mask


def attend_fused(function: AttentionFunction, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None) -> Tensor:
    """Attend in the kernel: query [B, H, Q, E], key and value [B, K, T, E] -> output [B, H, Q, E].

    Raises ValueError for a function that is more than a scaled dot product with a bias.
    """
    if query.dtype == torch.bfloat16 and query.device.type == "cpu" and query.requires_grad:
        with torch.autocast("cpu", enabled=False):  # the kernel's backward pass is three times slower in bfloat16
            return attend_fused(function, query.float(), key.float(), value.float(), mask).to(query)
    if function.scale is None:
        raise ValueError(
            f"{type(function).__name__} is more than a scaled dot product with a bias, so torch's fused kernel cannot "
            "check it"
        )
    rows = slice(0, query.shape[2])
    side = function.side(rows)
    causal = side is None and mask == CausalMask(keys=query.shape[2])  # the kernel then skips the half that is masked
    added = function.added(rows, key.shape[2])
    allowed = None if mask is None or (causal and added is None) else mask.rows(0, rows.stop).to(query.device)
    if added is not None:
        added = added.to(query)
        allowed = added if allowed is None else added.masked_fill(~allowed, float("-inf"))
    if side is not None:
        allowed = _beside(query, key, allowed, side)
        key, value = torch.cat([key, side.key], dim=2), torch.cat([value, side.value], dim=2)
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


def _beside(query: Tensor, key: Tensor, allowed: Tensor | None, side: SideKeys) -> Tensor:
    """Numbers added to the scores of all keys, the side keys behind the tokens': [B, H, Q, T + G].

    allowed: of the tokens' keys, boolean or numbers that are added.
    """
    tokens = query.new_zeros(*query.shape[:3], key.shape[2])
    if allowed is not None:
        tokens = tokens.masked_fill(~allowed, float("-inf")) if allowed.dtype == torch.bool else tokens + allowed
    others = query.new_zeros(*query.shape[:3], side.key.shape[2]) if side.added is None else side.added.to(query)
    return torch.cat([tokens, others], dim=-1)
