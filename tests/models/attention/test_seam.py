from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from models.attention import AttentionCall, DotProductAttention, attend, editing, fused, row_blocks, seam, watch
from models.attention.fused_kernel import attend_fused
from models.attention.masks import CausalMask, PaddingMask
from tests.closeness import assert_close


def test_one_head_equals_equation_1_in_numpy():
    generator = np.random.default_rng(0)
    query, key, value = generator.normal(size=(3, 5, 8))
    scores = query @ key.T / np.sqrt(8)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    q, k, v = (torch.from_numpy(array)[None, None] for array in (query, key, value))
    output, weights = DotProductAttention(scale=8**-0.5)(q, k, v, None, rows=slice(0, 5))
    assert_close(weights[0, 0].numpy(), expected, relative=1e-14)
    assert_close(output[0, 0].numpy(), expected @ value, relative=1e-14)


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
    assert_close(blocks, whole, relative=1e-12)
    assert_close(blocks, kernel, relative=1e-12)


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


def test_what_the_kernel_cannot_compute_runs_as_it_is():
    @dataclass(frozen=True)
    class Biased:
        scale = None

        def __call__(self, query, key, value, mask, *, rows):
            return query + 1, query

    x = torch.zeros(1, 1, 3, 2)
    with fused():
        assert torch.equal(attend(Biased(), x, x, x), x + 1)
    with pytest.raises(ValueError, match="Biased is more than a scaled dot product"):
        attend_fused(Biased(), x, x, x, None)


def test_the_output_of_each_call_is_handed_to_who_watches():
    x, events = torch.randn(1, 2, 3, 4), []
    with watch(events.append, output=events.append):
        first = attend(DotProductAttention(0.5), x, x, x)
        attend(DotProductAttention(0.5), first, x, x)
    attend(DotProductAttention(0.5), x, x, x)
    assert [type(event) for event in events] == [AttentionCall, torch.Tensor] * 2
    assert events[1] is first is events[2].query


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
        assert_close(half.grad.float(), whole.grad, relative=2e-2)


def test_an_edit_stands_in_for_the_call_and_the_call_is_reported_as_made():
    torch.manual_seed(0)
    query, key, value = (torch.randn(1, 2, 5, 4) for _ in range(3))
    function = DotProductAttention(scale=0.5)
    alone = attend(function, query, key, value)
    seen, given = [], []

    def edit(call, compute):
        given.append(call)
        assert torch.equal(compute(call), alone)
        return compute(call) + 1

    with watch(seen.append), editing(edit):
        assert torch.equal(attend(function, query, key, value), alone + 1)
    assert torch.equal(attend(function, query, key, value), alone)  # nothing stays
    assert seen[0].query is query
    assert given[0].value is value
    assert given[0].layer is None
