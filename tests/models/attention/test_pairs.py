"""Tensors over pairs of tokens, kept small: exactly the same values come out, any part of them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from inspector.memory.held import storages
from models.attention.pairs import ByDistance, TwoValued, Whole, by_distance, compact, of_head, same

N = 150  # tokens: more than one block of rows


def toeplitz() -> Tensor:
    """A bias of 3 heads by distance, [1, 3, Q, T]."""
    apart = torch.arange(N)[None] - torch.arange(N)[:, None] + N
    return torch.randn(3, 2 * N, generator=torch.Generator().manual_seed(0))[:, apart][None]


def scattered() -> Tensor:
    """A mask with no order, [1, 1, Q, T]: 0 or the lowest number."""
    seen = torch.rand(1, 1, N, N + 3, generator=torch.Generator().manual_seed(1)) < 0.5
    return torch.zeros(seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)


CASES = {
    "bias": (toeplitz(), ByDistance),
    "causal": (torch.ones(N, N, dtype=torch.bool).tril()[None, None], ByDistance),
    "nothing": (torch.zeros(1, 2, N, 7), ByDistance),
    "scattered": (scattered(), TwoValued),
    "pairs first": (
        torch.nn.functional.one_hot((torch.arange(N) > 40).long()[:, None] ^ (torch.arange(N) > 40)),
        TwoValued,
    ),
    "numbers": (torch.randn(1, 2, N, N), Whole),
    "expanded": (scattered().expand(1, 4, N, N + 3), TwoValued),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_values_come_out(name: str) -> None:
    tensor, kind = CASES[name]
    small = compact(tensor)
    assert type(small) is kind
    assert torch.equal(small.part({}).expand(tensor.shape), tensor)
    cut = {-2: slice(5, 9), -1: slice(1, 2)}
    assert torch.equal(small.part(cut), small.part({})[..., 5:9, 1:2])
    assert same(small, small.part({}))
    other = small.part({}).clone()
    other[..., -1, 0] = 3 - other[..., -1, 0] if other.dtype != torch.bool else ~other[..., -1, 0]
    assert not same(small, other)


@pytest.mark.parametrize("name", ["bias", "numbers", "scattered"])
def test_a_head_alone(name: str) -> None:
    small = compact(CASES[name][0])
    whole = small.part({})
    head = min(1, whole.shape[1] - 1)
    assert torch.equal(of_head(small, head).part({}), whole[:, head : head + 1])


def test_a_bias_by_distance_is_linear_in_the_text() -> None:
    tensor = toeplitz()
    assert sum(storages(compact(tensor)).values()) == 4 * 3 * (2 * N - 1)
    assert sum(storages(compact(scattered())).values()) < scattered().nbytes / 30


def test_one_other_cell_anywhere_is_seen() -> None:
    tensor = toeplitz()
    tensor[0, 2, N - 1, N // 2] += 1e-6
    assert by_distance(tensor) is None
    assert torch.equal(compact(tensor).part({}), tensor)
