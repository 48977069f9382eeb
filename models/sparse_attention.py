"""Models of transformers that attend in windows and blocks, sent through `models.attention.attend`.

transformers computes these by shifting and stacking blocks, each model in its own way, and hands out maps of as many
shapes. What they compute is plain: a dot product between the keys that a rule lets a query see. So each such attention
module is replaced, once, at load, by a module here that has the same projections and says the rule; nothing is padded
to whole blocks any more. That the numbers are transformers' own is a test (tests/models/test_sparse_attention.py).

Shapes: B batch, H heads, T tokens, D width, E head width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn

from models.attention import attend
from models.block_sparse import BlockSparseMask, RepeatedBlock
from models.functions import AttentionFunction, ComposedAttention, DotProductAttention, WeightedSum
from models.masks import DenseMask, Mask, all_of
from models.scores import DotScore, FillWith


def replace_sparse(network: nn.Module) -> None:
    """Put this file's modules in the place of a network's sparse attention; any other network stays as it is."""
    adapt = _ADAPTED.get(network.config.model_type)  # type: ignore[union-attr]
    if adapt is not None:
        adapt(network)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[B, T, H E] -> [B, H, T, E]."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)


# --- BigBird and BigBird-Pegasus -----------------------------------------------------------------------------------


class BlockSparseAttention(nn.Module):
    """BigBird's self-attention: in blocks where the text is long enough for them, else in full.

    transformers switches a whole model to full attention at its first short text, for good. Here each text is attended
    to as a model fresh from its file would: in blocks from (5 + 2r) * size + 1 tokens on, with r = num_random_blocks.
    """

    def __init__(self, replaced: Any, config: Any) -> None:
        super().__init__()
        self.query, self.key, self.value = replaced.query, replaced.key, replaced.value
        self.heads, self.size = int(config.num_attention_heads), int(config.block_size)
        self.random = int(config.num_random_blocks)

    def forward(self, hidden_states: Tensor, attention_mask: Mask | Tensor | None = None, **_: Any) -> Any:
        """[B, T, D] -> heads side by side [B, T, D], and None where transformers has its maps."""
        query, key, value = (split_heads(project(hidden_states), self.heads) for project in self._projections())
        given = DenseMask(attention_mask) if isinstance(attention_mask, Tensor) else attention_mask
        function, rule = self._rule(hidden_states.shape[1], width=query.shape[-1])
        heads = attend(function, query, key, value, mask=all_of(rule, given))
        return heads.transpose(1, 2).flatten(start_dim=2), None

    def _projections(self) -> tuple[nn.Module, ...]:
        return self.query, self.key, self.value

    def _rule(self, tokens: int, *, width: int) -> tuple[AttentionFunction, Mask | None]:
        if tokens <= (5 + 2 * self.random) * self.size:
            return DotProductAttention(width**-0.5), None
        bias = RepeatedBlock(tokens, self.size, times=1 + self.random)
        function = ComposedAttention(DotScore(), width**-0.5, bias, FillWith(float("-inf")), False, WeightedSum())
        return function, BlockSparseMask(tokens, self.size)


def _big_bird(network: Any) -> None:
    config, body = network.config, network.base_model
    causal = config.is_decoder and not config.is_encoder_decoder
    if config.attention_type != "block_sparse" or causal:  # then it attends in full, always
        return
    encoder = body.encoder
    layers = encoder.layer if hasattr(encoder, "layer") else encoder.layers
    for layer in layers:
        attention = layer.attention if hasattr(layer, "attention") else layer.self_attn
        attention.self = BlockSparseAttention(attention.self, config)
        attention.attention_type = "original_full"  # so that nothing is padded, and no text switches the others' type
    for part in (body, encoder):
        part.attention_type = "original_full"


_ADAPTED: Mapping[str, Callable[[Any], None]] = {"big_bird": _big_bird, "bigbird_pegasus": _big_bird}
