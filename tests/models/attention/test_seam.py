from __future__ import annotations

from dataclasses import dataclass
from threading import Thread

import numpy as np
import pytest
import torch
from torch import nn

from models import attention
from models.attention import DotProductAttention, MultiHeadAttention, attend, fused, row_blocks, watch
from models.attention.masks import PaddingMask

PRECISIONS = [(torch.float32, 1e-6), (torch.float64, 1e-12)]


def pair(width, heads, dtype, *, bias=True):
    """The own module and torch's, with the same weights."""
    own = MultiHeadAttention(width, heads, bias=bias).to(dtype)
    reference = nn.MultiheadAttention(width, heads, bias=bias, batch_first=True, dtype=dtype)
    projections = [own.query, own.key, own.value]
    with torch.no_grad():
        reference.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
        reference.out_proj.weight.copy_(own.out.weight)
        if bias:
            reference.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
            reference.out_proj.bias.copy_(own.out.bias)
    return own.eval(), reference.eval()


def all_weights(call, queries):
    mask = None if call.mask is None else call.mask.rows(0, queries)
    return call.function(call.query, call.key, call.value, mask, rows=slice(0, queries))[1]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@torch.no_grad()
def test_multi_head_attention_equals_torch(dtype, tolerance, bias):
    torch.manual_seed(0)
    own, reference = pair(24, 4, dtype, bias=bias)
    x = torch.randn(3, 9, 24, dtype=dtype)
    keep = torch.arange(9) < torch.tensor([9, 5, 1])[:, None]
    calls = []
    with watch(calls.append):
        output = own(x, mask=PaddingMask(keep))
    expected, weights = reference(x, x, x, key_padding_mask=~keep, average_attn_weights=False)
    torch.testing.assert_close(output, expected, rtol=0, atol=tolerance)
    torch.testing.assert_close(all_weights(calls[0], 9), weights, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@torch.no_grad()
def test_attention_to_another_text_equals_torch(dtype, tolerance):
    torch.manual_seed(1)
    own, reference = pair(12, 3, dtype)
    x, context = torch.randn(2, 4, 12, dtype=dtype), torch.randn(2, 7, 12, dtype=dtype)
    expected = reference(x, context, context, need_weights=False)[0]
    torch.testing.assert_close(own(x, context), expected, rtol=0, atol=tolerance)


def test_one_head_equals_equation_1_in_numpy():
    generator = np.random.default_rng(0)
    query, key, value = generator.normal(size=(3, 5, 8))
    scores = query @ key.T / np.sqrt(8)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    q, k, v = (torch.from_numpy(array)[None, None] for array in (query, key, value))
    output, weights = DotProductAttention(scale=8**-0.5)(q, k, v, None, rows=slice(0, 5))
    np.testing.assert_allclose(weights[0, 0].numpy(), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(output[0, 0].numpy(), expected @ value, rtol=0, atol=1e-14)


@pytest.mark.parametrize("queries", [1, 127, 128, 129, 300])
@pytest.mark.parametrize("padded", [True, False])
def test_blocks_of_rows_equal_one_block_and_the_fused_kernel(queries, padded, monkeypatch):
    torch.manual_seed(2)
    function = DotProductAttention(scale=0.5)
    query, key, value = (torch.randn(2, 3, queries, 4, dtype=torch.float64) for _ in range(3))
    keep = torch.ones(2, queries, dtype=torch.bool)
    keep[1, 1:] = False
    mask = PaddingMask(keep) if padded else None
    blocks = attend(function, query, key, value, mask=mask)
    with fused():
        kernel = attend(function, query, key, value, mask=mask)
    monkeypatch.setattr(attention, "BLOCK", queries)
    whole = attend(function, query, key, value, mask=mask)
    torch.testing.assert_close(blocks, whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(blocks, kernel, rtol=0, atol=1e-12)


def test_the_scores_of_a_long_text_are_never_whole():
    seen = []

    @dataclass(frozen=True)
    class Counting:
        scale = 1.0

        def __call__(self, query, key, value, mask, *, rows):
            seen.append((rows.start, rows.stop, query.shape[2]))
            return query, query

    x = torch.zeros(1, 1, 300, 2)
    attend(Counting(), x, x, x)
    assert seen == [(0, 128, 128), (128, 256, 128), (256, 300, 44)]


@pytest.mark.parametrize(("tokens", "rows"), [(1, 1), (300, 128), (2048, 128), (3000, 87), (8192, 32)])
def test_a_long_text_has_smaller_blocks_and_every_row_once(tokens, rows):
    blocks = list(row_blocks(tokens, tokens))
    assert blocks[0] == slice(0, rows)
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(range(tokens))
    assert max(block.stop - block.start for block in blocks) * tokens <= 2**18
    some = list(row_blocks(tokens, tokens, among=slice(tokens // 2, tokens // 2 + 1)))
    assert len(some) == 1
    assert some[0] in blocks
    assert some[0].start <= tokens // 2 < some[0].stop


def test_fused_refuses_what_the_kernel_cannot_compute():
    @dataclass(frozen=True)
    class Biased:
        scale = None

        def __call__(self, query, key, value, mask, *, rows):
            raise AssertionError("must not run")

    x = torch.zeros(1, 1, 3, 2)
    with fused(), pytest.raises(ValueError, match="Biased is more than a scaled dot product"):
        attend(Biased(), x, x, x)


def test_watching_ends_with_the_block_and_stays_in_its_thread():
    module, x, calls = MultiHeadAttention(4, 2), torch.randn(1, 3, 4), []
    with watch(calls.append):
        module(x)
        elsewhere = Thread(target=module, args=(x,))
        elsewhere.start()
        elsewhere.join()
    module(x)
    assert [tuple(call.query.shape) for call in calls] == [(1, 2, 3, 2)]


@pytest.mark.parametrize(("width", "heads"), [(12, 5), (12, 0)])
def test_heads_that_do_not_divide_the_width_are_named(width, heads):
    with pytest.raises(ValueError, match=f"width {width} does not divide into {heads} heads"):
        MultiHeadAttention(width, heads)
