"""Side keys beside the tokens' keys, against one softmax of torch over both."""

from __future__ import annotations

import torch
from torch.nn.functional import scaled_dot_product_attention

from models.attention.side_keys import SideKeyAttention
from tests.closeness import assert_close


def test_tokens_and_side_keys_share_one_softmax() -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, 3, tokens, 4, dtype=torch.float64) for tokens in (5, 7, 7))
    side_key, side_value = (torch.randn(2, 3, 2, 4, dtype=torch.float64) for _ in range(2))
    mask = torch.rand(2, 1, 5, 7) > 0.3
    attention = SideKeyAttention(0.5, side_key, side_value)
    output, weights = attention(query, key, value, mask, rows=slice(0, 5))
    seen = torch.cat([mask, torch.ones(2, 1, 5, 2, dtype=torch.bool)], dim=-1)
    keys, values = torch.cat([key, side_key], dim=2), torch.cat([value, side_value], dim=2)
    assert_close(output, scaled_dot_product_attention(query, keys, values, seen, scale=0.5), relative=1e-12)
    one_hot = torch.eye(9, dtype=torch.float64).expand(2, 3, 9, 9)  # as values: the output is the weights
    expected = scaled_dot_product_attention(query, keys, one_hot, seen, scale=0.5)
    assert_close(weights, expected[..., :7], relative=1e-12)
