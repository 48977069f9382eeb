"""DiffLlama's attention, sent through the registry once a layer (Ye et al. 2024, Differential Transformer).

The first and the second half of its H heads make pairs: head h's softmax less lambda times the softmax of head h + H/2
weighs the values that both share. transformers asks the registry twice a layer, once for each half of the values, and
both times the maps are the same; here it is asked once, for whole values.

Shapes: B batch, H heads, K kv heads, T tokens, D width, E head width.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.diffllama.modeling_diffllama import apply_rotary_pos_emb, eager_attention_forward

from models.placement import with_weights


def replace_differential(network: Any) -> None:
    """Put this file's module in the place of a DiffLlama's attention; any other network stays as it is."""
    if network.config.model_type == "diffllama":
        for layer in network.base_model.layers:
            layer.self_attn = DifferentialAttention(layer.self_attn)


class DifferentialAttention(nn.Module):
    """(softmax_h - lambda softmax_(h + H/2)) V for each pair of heads, normed, side by side, and projected."""

    def __init__(self, replaced: Any) -> None:
        super().__init__()
        self.attention = replaced  # its projections, its lambdas and its norm

    def forward(
        self,
        hidden_states: Tensor,
        position_embeddings: tuple[Tensor, Tensor],
        attention_mask: Any = None,
        past_key_values: Any = None,
        **given: Any,
    ) -> tuple[Tensor, None]:
        """[B, T, D] -> [B, T, D], and None where transformers has its maps."""
        of = self.attention
        query, key, value = (
            project(hidden_states).unflatten(-1, (-1, of.head_dim)).transpose(1, 2)
            for project in (of.q_proj, of.k_proj, of.v_proj)
        )
        query, key = apply_rotary_pos_emb(query, key, *position_embeddings)
        if past_key_values is not None:
            key, value = past_key_values.update(key, value, of.layer_idx)
        whole = torch.cat(value.chunk(2, dim=1), dim=-1).repeat(1, 2, 1, 1)  # [B, K, T, 2E]
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(of.config._attn_implementation, eager_attention_forward)
        mixed, _ = attend(of, query, key, whole, attention_mask, dropout=0.0, scaling=of.scaling, **given)
        first, second = mixed.chunk(2, dim=2)  # [B, T, H / 2, 2E]
        normed = (1 - of.lambda_init) * of.groupnorm(first - _lambda(of).to(query) * second)
        return of.o_proj(normed.flatten(start_dim=2)), None


def _lambda(of: Any) -> Tensor:
    """exp(q1 . k1) - exp(q2 . k2) + lambda_init, a number."""
    with with_weights(of):
        first, second = of.lambda_q1 * of.lambda_k1, of.lambda_q2 * of.lambda_k2
    full: Tensor = first.sum(dtype=torch.float32).exp() - second.sum(dtype=torch.float32).exp() + of.lambda_init
    return full
