"""Programs of scores: how scores were made is followed, kept small and repeated, each part the same as in the whole."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from inspector.memory.held import storages
from models.huggingface.score_program import Node, Product, ScoreWatch, Whole
from tests.closeness import assert_close

H, N, E = 3, 40, 8
LOWEST = torch.finfo(torch.float32).min


class Watched(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.watch = ScoreWatch()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.watch.see(func, args, kwargs or {}, result)
        return result


def followed(make: Callable[..., Tensor], *given: Tensor) -> tuple[Node | None, Tensor]:
    with Watched() as mode:
        scores = make(*given)
    return mode.watch.program(scores, pairs=(N, N)), scores


def vectors(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def plain(q: Tensor, k: Tensor) -> Tensor:
    causal = torch.ones(N, N, dtype=torch.bool).tril()
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(E)
    return torch.where(causal[None, None], scores, torch.tensor(LOWEST))


def in_place(q: Tensor, k: Tensor) -> Tensor:
    scores = q @ k.mT
    scores /= 3
    scores += torch.zeros(1, 1, N, N).masked_fill(torch.rand(N, N) < 0.3, LOWEST)
    return scores.masked_fill_(torch.eye(N, dtype=torch.bool), -1e4)


def alibi(q: Tensor, k: Tensor) -> Tensor:
    slopes = vectors(H, 1, N)
    scores = slopes.baddbmm(batch1=q[0], batch2=k[0].transpose(1, 2), beta=1.0, alpha=0.3).view(1, H, N, N)
    return torch.max((scores + 1).to(torch.float64).float(), torch.tensor(-2.0))


def shifted(q: Tensor, k: Tensor) -> Tensor:
    """Transformer-XL's: scores of distances, shifted by row (Dai et al. 2019, appendix B)."""
    q, k, r = q.permute(2, 0, 1, 3), k.permute(2, 0, 1, 3), vectors(2 * N, 1, H, E)
    bd = torch.einsum("ibnd,jbnd->bnij", q, r)
    bd = bd.reshape(1, H, 2 * N, N)[:, :, 1:, :].reshape(1, H, N, 2 * N - 1)
    return torch.einsum("ibnd,jbnd->bnij", q, k) + torch.index_select(bd, 3, torch.arange(N))


def looked_up(q: Tensor, k: Tensor) -> Tensor:
    """DeBERTa's, from content to position and back (He et al. 2021, section 3.1)."""
    apart = (torch.arange(N)[:, None] - torch.arange(N)).clamp(-5, 4) + 5
    to = torch.gather(q @ vectors(1, H, E, 10), dim=-1, index=apart.expand(1, H, N, N))
    back = torch.gather(k @ vectors(1, H, E, 10), -1, apart.expand(1, H, N, N)).transpose(-1, -2)
    return q @ k.transpose(-1, -2) + (0 + to + back) / 2


@pytest.mark.parametrize("make", [plain, in_place, alibi, shifted, looked_up])
def test_every_part_is_made_again(make: Callable[..., Tensor]) -> None:
    program, scores = followed(make, vectors(1, H, N, E), vectors(1, H, N, E))
    assert program is not None
    assert program.shape == scores.shape
    assert_close(program.part({}), scores, relative=1e-5)
    for rows in (slice(0, 7), slice(33, N)):
        part = program.part({-2: rows, -3: slice(1, 2)})
        assert_close(part, scores[:, 1:2, rows], relative=1e-5)


@pytest.mark.parametrize("make", [plain, alibi, shifted, looked_up])
def test_nothing_with_a_number_for_each_pair_is_kept(make: Callable[..., Tensor]) -> None:
    program, scores = followed(make, vectors(1, H, N, E), vectors(1, H, N, E))
    assert max(storages(program).values()) < scores.nbytes / 2


def unknown(q: Tensor, k: Tensor) -> Tensor:
    return torch.tanh(q @ k.mT) + 0  # tanh is not followed


def own_numbers(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT + vectors(1, H, N, N)


@pytest.mark.parametrize("make", [unknown, own_numbers])
def test_what_cannot_be_followed_is_no_program(make: Callable[..., Tensor]) -> None:
    assert followed(make, vectors(1, H, N, E), vectors(1, H, N, E))[0] is None


def test_a_program_of_a_stranger_cannot_ask_for_all_the_memory() -> None:
    wide = Whole(torch.zeros(1, 1)), Whole(torch.zeros(1, 1))
    with pytest.raises(ValueError, match="an intermediate result would have 1,000,000,000,000 numbers"):
        Product(*(Whole(x.values.expand(size)) for x, size in zip(wide, ((10**6, 1), (1, 10**6)), strict=True))).part(
            {}
        )
