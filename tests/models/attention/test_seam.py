from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from models.attention import DotProductAttention, attend, fused, row_blocks, seam
from models.attention.masks import CausalMask, PaddingMask


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
    monkeypatch.setattr(seam, "BLOCK", queries)
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


def test_training_in_bfloat16_attends_in_float32() -> None:
    """Output and gradients on a CPU are those of float32 on the same numbers, rounded."""
    drawn = [torch.randn(2, heads, 9, 8, generator=torch.Generator().manual_seed(heads)) for heads in (4, 2, 2)]
    halves = [tensor.bfloat16().requires_grad_() for tensor in drawn]
    wholes = [tensor.detach().float().requires_grad_() for tensor in halves]
    outputs = []
    for inputs in (halves, wholes):
        with torch.autocast("cpu", torch.bfloat16, enabled=inputs is halves):
            outputs.append(attend(DotProductAttention(8**-0.5), *inputs, mask=CausalMask(9)))
        outputs[-1].float().square().sum().backward()
    assert outputs[0].dtype == torch.bfloat16
    assert torch.equal(outputs[0], outputs[1].bfloat16())
    for half, whole in zip(halves, wholes, strict=True):
        torch.testing.assert_close(half.grad.float(), whole.grad, atol=2e-2, rtol=2e-2)
