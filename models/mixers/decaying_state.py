"""A state that decays, is written to and read: the gated delta rule, Kimi's, lightning attention, Mamba-2 by head.

Each token t of a head decays the state S [E, V] by exp(g_t), writes its value at its key, and is answered by its query:

    S_t = diag(exp g_t) S_(t-1) + b_t k_t (v_t - r k_tᵀ diag(exp g_t) S_(t-1)),    y_t = q_tᵀ S_t + D v_t

with r = 1 for the delta rule, which removes what the key held before (Yang et al. 2024, Gated Delta Networks; with a
decay for each dimension of a key, Kimi Team 2025), and r = 0 for lightning attention (Qin et al. 2024) and Mamba-2
(Dao & Gu 2024: q is C, k is B, b is dt, g is A dt). So y = M v with, for j <= i and G_ij = exp(g_(j+1) + ... + g_i),

    M = tril(Q Kᵀ * G) (I + diag(b) stril(K Kᵀ * G))^-1 diag(b) + D I.

A row is computed backwards from its query, chunk by chunk: what a query still asks of the state before a chunk is one
vector [E], as in the chunked form of the layer itself. All of it in float64: decays sum up to thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

CHUNK = 64  # tokens
_CUBE = 8  # tokens, whose decays by dimension are computed pair by pair
_L2_EPSILON = 1e-6  # of flash-linear-attention's l2norm, and so of every model's


@dataclass(frozen=True)
class DecayingState:
    """The tensors that a head's map is computed from; E is the width of a key, or the size of a state space's state.

    query, key [T, K, E], shared by H / K heads each; decay, a logarithm, [T, H] or [T, H, E]; strength, b above,
    [T, H], 1 where None. removes: whether a write removes first what its key held. skip, D above, [H], 0 where None.
    normalised: whether the core brings queries and keys to length 1 before it multiplies queries by `scale`.
    """

    query: Tensor
    key: Tensor
    decay: Tensor
    strength: Tensor | None = None
    removes: bool = False
    skip: Tensor | None = None
    normalised: bool = False
    scale: float = 1.0

    by_token: ClassVar[tuple[str, ...]] = ("query", "key", "decay", "strength")

    def of_heads(self, heads: Sequence[int]) -> DecayingState:
        """Return the core of some heads alone."""
        shared = self.decay.shape[1] // self.key.shape[1]
        chosen, kv = list(heads), [head // shared for head in heads]
        return replace(
            self,
            query=self.query[:, kv],
            key=self.key[:, kv],
            decay=self.decay[:, chosen],
            strength=None if self.strength is None else self.strength[:, chosen],
            skip=None if self.skip is None else self.skip[chosen],
        )

    @torch.no_grad()
    def blocks(self, *, queries: slice) -> Iterator[tuple[slice, Tensor]]:
        """Compute maps in blocks of CHUNK rows: (rows, float64 [H, rows, rows.stop]); later keys have no weight."""
        tokens = len(self.decay)
        starts = range(0, min(queries.stop, tokens), CHUNK)
        with _flushed():
            chunks = [self._chunk(slice(start, min(start + CHUNK, tokens))) for start in starts]
        for number in range(queries.start // CHUNK, len(chunks)):
            start = number * CHUNK
            with _flushed():
                weights = self._rows(chunks[: number + 1])
            yield slice(start, min(start + CHUNK, tokens)), weights

    def _rows(self, chunks: list[_Chunk]) -> Tensor:
        """The rows of the last chunk's queries, from its own keys back to the first: [H, rows, keys]."""
        weights, asked = chunks[-1].own()  # asked: what the queries ask of the state before a chunk, [H, rows, E]
        parts = [weights]
        for chunk in reversed(chunks[:-1]):
            weights, asked = chunk.before(asked)
            parts.append(weights)
        whole = torch.cat(parts[::-1], dim=-1)
        if self.skip is not None:
            whole[:, :, -whole.shape[1] :].diagonal(dim1=-2, dim2=-1).add_(self.skip.double()[:, None])
        return whole

    def _chunk(self, place: slice) -> _Chunk:
        heads = self.decay.shape[1]

        def by_head(tensor: Tensor) -> Tensor:
            """[T, K, E] -> float64 [H, chunk, E]."""
            part = tensor[place].double()
            part = part * torch.rsqrt(part.square().sum(-1, keepdim=True) + _L2_EPSILON) if self.normalised else part
            return part.repeat_interleave(heads // part.shape[1], dim=1).transpose(0, 1).contiguous()

        query, key = by_head(self.query) * self.scale, by_head(self.key)
        decay = self.decay[place].double().transpose(0, 1)
        decay = (decay if decay.ndim == 3 else decay[..., None]).cumsum(dim=1)
        strength = None if self.strength is None else self.strength[place].double().T[:, None]
        return _Chunk(query, key, decay, strength=strength, removes=self.removes)


class _Chunk:
    """Some tokens in float64: query, key [H, C, E], decay since the chunk began [H, C, 1 or E], strength [H, 1, C].

    What each token writes of itself and of the tokens before it is (I + diag(b) stril(K Kᵀ * G))^-1 diag(b), [H, C, C],
    and diag(b) alone where nothing is removed.
    """

    def __init__(
        self,
        query: Tensor,
        key: Tensor,
        decay: Tensor,
        *,
        strength: Tensor | None,
        removes: bool,
    ) -> None:
        since = decay.exp()
        self._asked, self._kept = query * since, since[:, -1:]
        answers = (key * (decay[:, -1:] - decay).exp()).mT  # [H, E, C], to what is asked behind the chunk
        weights = _decayed([query, key] if removes else [query], key, decay)
        own = weights[0]
        if removes:
            removal = weights[1] if strength is None else strength.mT * weights[1]
            written = torch.eye(key.shape[1], dtype=torch.float64).expand(len(key), -1, -1)
            written = torch.linalg.solve_triangular(removal, written, upper=False, unitriangular=True)
            own, answers = own @ written, answers @ written
        if strength is not None:
            own, answers = own * strength, answers * strength
        self._own, self._answers = own, answers
        self._removed = key * since if removes else None

    def own(self) -> tuple[Tensor, Tensor]:
        """The chunk's queries on its own keys, [H, C, C], and what they ask of the state before it, [H, C, E]."""
        return self._own, self._left(self._own, self._asked)

    def before(self, asked: Tensor) -> tuple[Tensor, Tensor]:
        """Later queries on the chunk's keys, [H, rows, C], and what they ask of the state before it, [H, rows, E]."""
        weights = asked @ self._answers
        return weights, self._left(weights, asked * self._kept)

    def _left(self, weights: Tensor, asked: Tensor) -> Tensor:
        return asked if self._removed is None else torch.baddbmm(asked, weights, self._removed, alpha=-1)


def _decayed(lefts: Sequence[Tensor], right: Tensor, decay: Tensor) -> list[Tensor]:
    """Products left_i . right_j, decayed from j to i: [H, C, C] of each of `lefts`, 0 for j > i.

    Where each dimension decays by itself, the later half of the tokens meets the earlier half by way of the token
    between them: both ways are decays, so that nothing overflows.
    """
    tokens = decay.shape[1]
    if decay.shape[-1] == 1:
        between = (decay - decay.mT).tril_().exp_().tril_()  # above, a growth that may overflow
        return [(left @ right.mT).mul_(between) for left in lefts]
    if tokens <= _CUBE:
        between = (decay[:, :, None] - decay[:, None]).clamp_(max=0).exp_()
        return [torch.einsum("hid,hjd,hijd->hij", left, right, between).tril_() for left in lefts]
    early, late = slice(0, tokens // 2), slice(tokens // 2, tokens)
    at = decay[:, early][:, -1:]
    to, since = right[:, early] * (at - decay[:, early]).exp(), (decay[:, late] - at).exp()
    made = [right.new_zeros(len(right), tokens, tokens) for _ in lefts]
    for half in (early, late):
        of_half = _decayed([left[:, half] for left in lefts], right[:, half], decay[:, half])
        for whole, part in zip(made, of_half, strict=True):
            whole[:, half, half] = part
    for whole, left in zip(made, lefts, strict=True):
        whole[:, late, early] = (left[:, late] * since) @ to.mT
    return made


@contextmanager
def _flushed() -> Iterator[None]:
    """Take numbers nearer to 0 than 1e-308 for 0, in this thread: decays end there, where a processor is slow."""
    changed = torch.set_flush_denormal(True)
    try:
        yield
    finally:
        if changed:
            torch.set_flush_denormal(False)
