from __future__ import annotations

from threading import Thread

import pytest
import torch
from torch import nn

from models.attention import watch
from models.attention.masks import PaddingMask
from models.transformer.multi_head import MultiHeadAttention
from tests.closeness import assert_close

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
    assert_close(output, expected, relative=tolerance)
    assert_close(all_weights(calls[0], 9), weights, relative=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@torch.no_grad()
def test_attention_to_another_text_equals_torch(dtype, tolerance):
    torch.manual_seed(1)
    own, reference = pair(12, 3, dtype)
    x, context = torch.randn(2, 4, 12, dtype=dtype), torch.randn(2, 7, 12, dtype=dtype)
    expected = reference(x, context, context, need_weights=False)[0]
    assert_close(own(x, context), expected, relative=tolerance)


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
