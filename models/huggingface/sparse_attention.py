"""Models of transformers that attend in windows and blocks, sent through `models.attention.attend`.

transformers computes these by shifting and stacking blocks, each model in its own way, and hands out maps of as many
shapes. They compute plain attention: dot products with the keys that a rule lets a query see. So each such attention
module is replaced, once, at load, by a module here that has the same projections and says the rule; nothing is padded
to whole blocks any more. That the numbers are transformers' own is a test (test_sparse_attention.py).

Shapes: B batch, H heads, T tokens, D width, E head width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import lru_cache
from math import inf
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, scaled_dot_product_attention
from transformers.models.bart.modeling_bart import BartAttention
from transformers.models.longt5.modeling_longt5 import _create_global_aggregates, _make_global_fixed_block_ids

from models.attention import attend
from models.attention.functions import AttentionFunction, ComposedAttention, DotProductAttention, WeightedSum
from models.attention.masks import DenseMask, Mask, PackedTextsMask, PaddingMask, WindowMask, all_of
from models.attention.relative import T5Bias
from models.attention.scores import DotScore, FillWith
from models.attention.side_keys import SideBias, SideKeyAttention
from models.huggingface.block_sparse import BlockSparseMask, RepeatedBlock, longest_in_full
from models.placement import with_weights


def replace_sparse(network: Any) -> None:
    """Replace a network's sparse attention by the modules of this file; any other network stays the same."""
    adapt = _ADAPTED.get(network.config.model_type)
    if adapt is not None:
        adapt(network)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """[B, T, H E] -> [B, H, T, E]."""
    return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2)


# --- BigBird and BigBird-Pegasus -----------------------------------------------------------------------------------


class BlockSparseAttention(nn.Module):
    """BigBird's self-attention: in blocks where the text is long enough for blocks, else in full.

    transformers switches a whole model to full attention at its first short text, for good. Here each text is attended
    to as a model fresh from its file would: in blocks where the text has more tokens than `longest_in_full`.
    """

    def __init__(self, replaced: Any, config: Any) -> None:
        super().__init__()
        self.query, self.key, self.value = replaced.query, replaced.key, replaced.value
        self.heads, self.size = int(config.num_attention_heads), int(config.block_size)
        self.random, self.longest_in_full = int(config.num_random_blocks), longest_in_full(config)

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
        if tokens <= self.longest_in_full:
            return DotProductAttention(width**-0.5), None
        bias = RepeatedBlock(tokens, self.size, times=1 + self.random)
        function = ComposedAttention(DotScore(), width**-0.5, bias, FillWith(-inf), False, WeightedSum())
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


# --- Longformer and LED ----------------------------------------------------------------------------------------------


class WindowAttention(nn.Module):
    """Longformer's self-attention: a query sees half a window to either side (Beltagy et al. 2020, section 3.1).

    Tokens with global attention, which a caller of transformers may choose, are none by default, and none here.
    """

    def __init__(self, replaced: Any) -> None:
        super().__init__()
        self.query, self.key, self.value = replaced.query, replaced.key, replaced.value
        self.heads, self.width = int(replaced.num_heads), int(replaced.one_sided_attn_window_size) + 1

    def forward(
        self, hidden_states: Tensor, *, is_index_masked: Tensor, is_global_attn: bool = False, **_: Any
    ) -> tuple[Tensor]:
        """[B, T, D] -> heads side by side [B, T, D]."""
        if is_global_attn:
            raise ValueError("tokens with global attention cannot be recorded; leave out global_attention_mask")
        query, key, value = (
            split_heads(project(hidden_states), self.heads) for project in (self.query, self.key, self.value)
        )
        mask = all_of(_window(hidden_states.shape[1], self.width), _padding(~is_index_masked))
        heads = attend(DotProductAttention(query.shape[-1] ** -0.5), query, key, value, mask=mask)
        return (heads.transpose(1, 2).flatten(start_dim=2),)


class _DecoderAttention(nn.Module):
    """LED's attention in its decoder, which is BART's but does not go through the registry: BART's module in its place.

    `.attention` has the projections of the one that is replaced.
    """

    def __init__(self, replaced: Any, config: Any) -> None:
        super().__init__()
        with torch.device("meta"):  # its own projections are not used
            self.attention = BartAttention(
                replaced.embed_dim, replaced.num_heads, is_decoder=True, config=config, layer_idx=replaced.layer_idx
            )
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self.attention, name, getattr(replaced, name))
        self.attention.eval()

    def forward(self, *, past_key_values: Any = None, output_attentions: bool = False, **given: Any) -> Any:
        """Return the replaced module's results: output, weights (None: they are not kept), cache."""
        return *self.attention(past_key_values=past_key_values, **given), past_key_values


def _longformer(network: Any) -> None:
    body = network.base_model
    for layer in body.encoder.layer:
        layer.attention.self = WindowAttention(layer.attention.self)
    body._pad_to_window_size = _not_padded


def _led(network: Any) -> None:
    body = network.base_model
    for layer in body.encoder.layers:
        layer.self_attn.longformer_self_attn = WindowAttention(layer.self_attn.longformer_self_attn)
    body.encoder._pad_to_window_size = _not_padded
    for layer in body.decoder.layers:
        layer.self_attn = _DecoderAttention(layer.self_attn, network.config)
        layer.encoder_attn = _DecoderAttention(layer.encoder_attn, network.config)


def _not_padded(*, pad_token_id: int, **inputs: Any) -> tuple[Any, ...]:
    """Leave the inputs without padding: attention in a band needs no whole windows."""
    return 0, *inputs.values()


# --- LongT5 ----------------------------------------------------------------------------------------------------------


class LocalAttention(nn.Module):
    """LongT5's self-attention in its encoder: a window, and in "transient-global" models a key for each 16 tokens.

    first: the attention of the first layer, which has the tables of distances of all layers.
    """

    def __init__(self, replaced: Any, first: Any) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = replaced.q, replaced.k, replaced.v, replaced.o
        self.heads, self.width = int(replaced.n_heads), int(replaced.block_len)
        self.farthest = int(replaced.relative_attention_max_distance)
        self.relative_attention_bias = first.relative_attention_bias
        self.global_size = int(getattr(replaced, "global_block_size", 0))
        if self.global_size:
            self.global_relative_attention_bias = first.global_relative_attention_bias
            self.global_input_layer_norm = replaced.global_input_layer_norm

    def forward(self, hidden_states: Tensor, mask: Tensor, **_: Any) -> tuple[Tensor, None]:
        """[B, T, D] -> [B, T, D], and no bias for the next layer, which has the table itself."""
        tokens = hidden_states.shape[1]
        query, key, value = (split_heads(project(hidden_states), self.heads) for project in (self.q, self.k, self.v))
        keep = mask.bool() if mask.ndim == 2 else self._keep(mask, tokens)
        allowed = all_of(_window(tokens, self.width), _padding(keep))
        heads = attend(self._function(hidden_states, keep), query, key, value, mask=allowed)
        return self.o(heads.transpose(1, 2).flatten(start_dim=2)), None

    def _keep(self, mask: Tensor, tokens: int) -> Tensor:
        """Find the real tokens, [B, T], in the middle of each one's three blocks, [B, 1, blocks, width, 3 width]."""
        itself = mask[:, 0].diagonal(offset=self.width, dim1=2, dim2=3)
        return itself.flatten(start_dim=1)[:, :tokens].bool()

    def _function(self, hidden: Tensor, keep: Tensor) -> AttentionFunction:
        bias = T5Bias(_table(self.relative_attention_bias), self.farthest, both_sides=True, offset=0)
        if not self.global_size or hidden.shape[1] < self.global_size:  # too short for a side key
            return ComposedAttention(DotScore(), 1.0, bias, FillWith(-inf), False, WeightedSum())
        blocks, seen = _make_global_fixed_block_ids(keep.long(), self.global_size)
        sums = _create_global_aggregates(hidden, blocks, seen.shape[1])
        sums = self.global_input_layer_norm(sums)
        side_key, side_value = (split_heads(project(sums), self.heads) for project in (self.k, self.v))
        side_bias = SideBias(_table(self.global_relative_attention_bias), self.farthest, blocks.long(), seen.bool())
        return SideKeyAttention(1.0, side_key, side_value, bias, side_bias)


def _table(embedding: nn.Module) -> Tensor:
    """The table of distances [buckets, H]; a copy where accelerate offloads the table between its uses."""
    table: Tensor = embedding.get_parameter("weight")
    with with_weights(embedding):
        return embedding.get_parameter("weight").clone() if table.is_meta else table


def _longt5(network: Any) -> None:
    layers = [block.layer[0] for block in network.get_encoder().block]
    name = next(name for name in ("LocalSelfAttention", "TransientGlobalSelfAttention") if hasattr(layers[0], name))
    first = getattr(layers[0], name)
    for layer in layers:
        setattr(layer, name, LocalAttention(getattr(layer, name), first))


# --- Pegasus-X -------------------------------------------------------------------------------------------------------


class StaggeredAttention(nn.Module):
    """Pegasus-X's self-attention in its encoder: a token sees its block and the global tokens, which see everything.

    shift: by so many tokens blocks begin earlier. The attention of global tokens is not recorded: they are no tokens of
    a text.
    """

    def __init__(self, replaced: Any, *, shift: int) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = replaced.q_proj, replaced.k_proj, replaced.v_proj
        self.out_proj = replaced.out_proj
        self.heads, self.size, self.shift = int(replaced.num_heads), int(replaced.block_size), shift

    def forward(self, tokens: Tensor, globals_: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens [B, T, D], global tokens [B, G, D], keep (boolean [B, T], True on real tokens) -> both, mixed."""
        query, key, value = self._projected(tokens)
        global_query, global_key, global_value = self._projected(globals_)
        scale = query.shape[-1] ** -0.5
        blocks = (torch.arange(query.shape[2]) + self.shift) // self.size
        mask = all_of(PackedTextsMask(blocks[None]), _padding(keep))
        mixed = attend(SideKeyAttention(scale, global_key, global_value), query, key, value, mask=mask)
        global_mixed = scaled_dot_product_attention(
            global_query,
            torch.cat([global_key, key], dim=2),
            torch.cat([global_value, value], dim=2),
            attn_mask=pad(keep, (global_key.shape[2], 0), value=True)[:, None, None],
            scale=scale,
        )
        of_tokens, of_globals = (self.out_proj(x.transpose(1, 2).flatten(start_dim=2)) for x in (mixed, global_mixed))
        return of_tokens, of_globals

    def _projected(self, x: Tensor) -> tuple[Tensor, ...]:
        return tuple(split_heads(project(x), self.heads) for project in (self.q_proj, self.k_proj, self.v_proj))


class StaggeredLayer(nn.Module):
    """A layer of Pegasus-X's encoder: tokens and global tokens go through the same weights beside each other.

    Norms of global tokens are called without hooks, for what a hook sees is taken for the tokens of the text.
    """

    def __init__(self, replaced: Any) -> None:
        super().__init__()
        shift = replaced.block_size // 2 if replaced.stagger_blocks_this_layer else 0
        self.self_attn = StaggeredAttention(replaced.self_attn, shift=shift)
        self.self_attn_layer_norm = replaced.self_attn_layer_norm
        self.global_self_attn_layer_norm = replaced.global_self_attn_layer_norm
        self.activation, self.fc1, self.fc2 = replaced.activation_fn, replaced.fc1, replaced.fc2
        self.final_layer_norm = replaced.final_layer_norm

    def forward(
        self, hidden_states: Tensor, global_hidden_states: Tensor, attention_mask: Tensor, **_: Any
    ) -> tuple[Tensor, Tensor]:
        """Tokens [B, T, D], global tokens [B, G, D], mask [B, T], 0 on real tokens -> both, changed."""
        mixed, global_mixed = self.self_attn(
            self.self_attn_layer_norm(hidden_states),
            self.global_self_attn_layer_norm.forward(global_hidden_states),
            attention_mask == 0,
        )
        tokens, globals_ = hidden_states + mixed, global_hidden_states + global_mixed
        tokens = tokens + self._feed_forward(self.final_layer_norm(tokens))
        return tokens, globals_ + self._feed_forward(self.final_layer_norm.forward(globals_))

    def _feed_forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc2(self.activation(self.fc1(x)))
        return out


def _pegasus_x(network: Any) -> None:
    encoder = network.get_encoder()
    encoder.config = copy(encoder.config)
    encoder.config.block_size = 1  # so that nothing is padded
    for index, layer in enumerate(encoder.layers):
        encoder.layers[index] = StaggeredLayer(layer)


# --- what they share -------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _window(tokens: int, width: int) -> WindowMask:
    """Share one object between all layers, so that a file holds it once."""
    return WindowMask(tokens, width)


def _padding(keep: Tensor) -> PaddingMask | None:
    return None if bool(keep.all()) else PaddingMask(keep.cpu())


_ADAPTED: Mapping[str, Callable[[Any], None]] = {
    "big_bird": _big_bird,
    "bigbird_pegasus": _big_bird,
    "longformer": _longformer,
    "led": _led,
    "longt5": _longt5,
    "pegasus_x": _pegasus_x,
}
