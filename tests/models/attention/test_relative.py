from __future__ import annotations

import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from models.attention.relative import AlibiBias, ShawMix, ShawScore, T5Bias, XlScore, alibi_slopes, buckets
from tests.closeness import assert_close


@pytest.mark.parametrize("both_sides", [True, False])
@pytest.mark.parametrize(("count", "farthest"), [(32, 128), (8, 20), (4, 50)])
def test_buckets_equal_those_of_transformers(count, farthest, both_sides):
    distance = torch.arange(-400, 401)
    expected = T5Attention._relative_position_bucket(
        distance, bidirectional=both_sides, num_buckets=count, max_distance=farthest
    )
    assert torch.equal(buckets(distance, count=count, farthest=farthest, both_sides=both_sides), expected)


def test_near_distances_have_a_bucket_each_and_far_ones_share():
    back = buckets(-torch.arange(200), count=32, farthest=128, both_sides=False)
    assert back[:16].tolist() == list(range(16))
    assert set(back[128:].tolist()) == {31}
    assert (back.diff() >= 0).all()


def test_rows_and_offset_cut_the_same_bias():
    bias = T5Bias(torch.randn(32, 4), 128, True, 0)
    whole = bias(slice(0, 40), 40)
    assert_close(bias(slice(10, 25), 40), whole[:, 10:25], relative=0)
    later = T5Bias(bias.table, 128, True, 30)
    assert_close(later(slice(0, 10), 40), whole[:, 30:], relative=0)
    for i, j in [(0, 0), (3, 9), (20, 1)]:
        bucket = int(buckets(torch.tensor(j - i), count=32, farthest=128, both_sides=True))
        assert torch.equal(whole[:, i, j], bias.table[bucket])


@pytest.mark.parametrize("heads", [1, 2, 4, 6, 8, 12])
def test_alibi_slopes_are_those_of_transformers(heads):
    bias = build_alibi_tensor(torch.ones(1, 3), heads, torch.float32).view(heads, 3)  # slope * position
    assert_close(alibi_slopes(heads), bias[:, 1].numpy(), relative=1e-6)


def test_alibi_falls_by_its_slope_with_every_token():
    bias = AlibiBias(alibi_slopes(8), 5)(slice(2, 4), 9)
    assert bias.shape == (8, 2, 9)
    for head in range(8):
        assert bias[head, 0].tolist() == [-(2.0 ** -(head + 1)) * abs(j - 7) for j in range(9)]


@pytest.mark.parametrize("offset", [0, 3])
def test_shaw_equals_its_equations_cell_by_cell(offset):
    torch.manual_seed(0)
    query, key, value = (torch.randn(1, 2, n, 4, dtype=torch.float64) for n in (5, 8, 8))
    a, b = torch.randn(2, 2 * 2 + 1, 4, dtype=torch.float64)
    rows = slice(1, 4)
    scores = ShawScore(a, offset)(query[:, :, rows], key, rows)
    weights = torch.softmax(scores, dim=-1)
    mixed = ShawMix(b, offset)(weights, value, rows)
    for head in range(2):
        for row, i in enumerate(range(1, 4)):
            place = [max(-2, min(2, j - (offset + i))) + 2 for j in range(8)]
            expected = [float(query[0, head, i] @ (key[0, head, j] + a[place[j]])) for j in range(8)]
            assert_close(scores[0, head, row], expected, relative=1e-12)
            total = sum(weights[0, head, row, j] * (value[0, head, j] + b[place[j]]) for j in range(8))
            assert_close(mixed[0, head, row], total, relative=1e-12)


def test_the_first_slope_of_eight_heads_halves_with_each_head():
    assert alibi_slopes(8) == tuple(2.0**-i for i in range(1, 9))
    assert alibi_slopes(16)[0] == pytest.approx(2**-0.5)


def test_a_head_of_transformer_xl_scores_as_it_does_among_all():
    torch.manual_seed(0)
    query, key, far = (torch.randn(1, 3, n, 4, dtype=torch.float64) for n in (5, 8, 8))
    content, place = torch.randn(2, 3, 4, dtype=torch.float64)
    score, rows = XlScore(content, place, far[0], 0, 3), slice(0, 5)
    every = score(query, key, rows)
    for head in range(3):
        alone = slice(head, head + 1)
        found = score.of_head(head)(query[:, alone], key[:, alone], rows)
        assert found.shape == (1, 1, 5, 8)
        expected = [
            [
                (query[0, head, i] + content[head]) @ key[0, head, j]
                + (query[0, head, i] + place[head]) @ far[0, head, max(3 + i - j, 0)]
                for j in range(8)
            ]
            for i in range(5)
        ]
        assert_close(found[0, 0], expected, relative=1e-12, scale=every)
        assert_close(every[0, head], expected, relative=1e-12, scale=every)
