"""Imposed patterns against transformers' Longformer and BigBird, which compute their masks by shifting blocks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import BigBirdConfig, LongformerConfig
from transformers.models.big_bird.modeling_big_bird import BigBirdBlockSparseAttention
from transformers.models.longformer.modeling_longformer import LongformerSelfAttention

from inspector.long_texts import BigBird, Longformer, RandomBlocks
from models.attention import DotProductAttention, attend
from models.attention.imposing import imposing
from models.attention.masks import AnyOf, Mask
from models.huggingface.block_sparse import BlockSparseMask
from tests.closeness import assert_close

HEADS, WIDTH, TOKENS = 2, 16, 64


def in_full(module: torch.nn.Module, x: Tensor, mask: Mask) -> Tensor:
    """Run full attention with the module's projections, with the mask imposed: [1, T, D] -> [1, T, D]."""
    query, key, value = (
        getattr(module, name)(x).view(1, TOKENS, HEADS, -1).transpose(1, 2) for name in ("query", "key", "value")
    )
    with imposing(lambda tokens: mask):
        mixed = attend(DotProductAttention((WIDTH // HEADS) ** -0.5), query, key, value)
    return mixed.transpose(1, 2).flatten(start_dim=2)


@torch.inference_mode()
@pytest.mark.parametrize("count", [0, 1, 3])
def test_longformers_window_and_global_tokens(count: int) -> None:
    torch.manual_seed(0)
    config = LongformerConfig(
        hidden_size=WIDTH, num_attention_heads=HEADS, attention_window=[8], attention_probs_dropout_prob=0.0
    )
    module = LongformerSelfAttention(config, layer_id=0).eval()
    for name in ("query", "key", "value"):  # global attention has projections of its own: here they are the same
        getattr(module, f"{name}_global").load_state_dict(getattr(module, name).state_dict())
    x, mask = torch.randn(1, TOKENS, WIDTH), torch.zeros(1, TOKENS)
    mask[:, :count] = 10000.0
    theirs = module(
        x,
        attention_mask=mask,
        is_index_masked=mask < 0,
        is_index_global_attn=mask > 0,
        is_global_attn=bool(count),
    )[0]
    ours = in_full(module, x, Longformer(side=4, globals=count).mask(TOKENS))
    assert_close(ours, theirs, relative=3e-6)


@torch.inference_mode()
@pytest.mark.parametrize("random", [1, 2])
def test_bigbirds_random_blocks_as_drawn_in_training(random: int) -> None:
    torch.manual_seed(0)
    size, blocks = 4, TOKENS // 4
    config = BigBirdConfig(
        **{"hidden_size": WIDTH, "num_attention_heads": HEADS, "block_size": size, "num_random_blocks": random},
        **{"attention_probs_dropout_prob": 0.0, "max_position_embeddings": TOKENS},
    )
    module = BigBirdBlockSparseAttention(config, seed=3).train()  # outside of training no random blocks are drawn
    x = torch.randn(1, TOKENS, WIDTH)
    np.random.seed(3)
    plan = module._get_rand_attn_plan(TOKENS, size, random)
    drawn = module._bigbird_block_rand_mask_with_head(
        TOKENS, TOKENS, size, size, HEADS, plan_from_length=plan[0], plan_num_rand_blocks=plan[1]
    )
    ones = torch.ones(1, TOKENS)
    in_blocks = ones.view(1, blocks, size)
    band = module_band(in_blocks)
    theirs = module(
        x,
        band_mask=band,
        from_mask=ones.view(1, 1, TOKENS, 1),
        to_mask=ones.view(1, 1, 1, TOKENS),
        from_blocked_mask=in_blocks,
        to_blocked_mask=in_blocks,
    )[0]
    rules = [
        AnyOf((BlockSparseMask(TOKENS, size), RandomBlocks(TOKENS, size, ((), *map(tuple, head.tolist()), ()))))
        for head in map(np.asarray, drawn)
    ]
    ours = in_full(module, x, ByHead(rules))
    assert_close(ours, theirs, relative=1e-5)
    own = BigBird(size, random).mask(TOKENS).rows(0, TOKENS)[0, 0].sum(dim=-1)
    for rule in rules:  # as many keys for each query as the rule that is drawn here shows
        assert (rule.rows(0, TOKENS)[0, 0].sum(dim=-1) == own).all()


class ByHead:
    """A mask of each head's own."""

    def __init__(self, masks: list[AnyOf]) -> None:
        self.masks = masks

    def rows(self, start: int, stop: int) -> Tensor:
        return torch.cat([mask.rows(start, stop) for mask in self.masks], dim=1)


def module_band(in_blocks: Tensor) -> Tensor:
    """Make the mask of the inner blocks and their neighbours as transformers does, of a text without padding."""
    from transformers.models.big_bird.modeling_big_bird import BigBirdModel

    return BigBirdModel.create_masks_for_block_sparse_attn(in_blocks.flatten(1), in_blocks.shape[2])[1]
