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
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor

CHUNK = 64  # tokens
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
        """The same of some heads."""
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
        chunks = [self._chunk(slice(start, min(start + CHUNK, tokens))) for start in starts]
        for number in range(queries.start // CHUNK, len(chunks)):
            yield chunks[number].place, self._rows(chunks[: number + 1])

    def _rows(self, chunks: list[_Chunk]) -> Tensor:
        """The rows of the last chunk's queries, from its own keys back to the first: [H, rows, keys]."""
        last = chunks[-1]
        parts, asked = [], last.query  # asked: what the queries ask of the state behind a chunk, [H, rows, E]
        for chunk in reversed(chunks):
            own = chunk is last
            reads = last.own_reads() if own else asked @ (chunk.key * chunk.until_end()).mT
            weights = reads if chunk.removal is None else _solve_right(reads, chunk.removal)
            weights = weights if chunk.strength is None else weights * chunk.strength[:, None]
            since = chunk.since_start()
            asked = asked * (since if own else since[:, -1:])
            if chunk.removal is not None:
                asked = asked - weights @ (chunk.key * since)
            parts.append(weights)
        rows = torch.cat(parts[::-1], dim=-1)
        if self.skip is not None:
            own_keys = rows[:, :, last.place]
            own_keys.diagonal(dim1=-2, dim2=-1).add_(self.skip.double()[:, None])
        return rows

    def _chunk(self, place: slice) -> _Chunk:
        heads = self.decay.shape[1]

        def by_head(tensor: Tensor) -> Tensor:
            """[T, K, E] -> float64 [H, chunk, E]."""
            part = tensor[place].double()
            part = part * torch.rsqrt(part.square().sum(-1, keepdim=True) + _L2_EPSILON) if self.normalised else part
            return part.repeat_interleave(heads // part.shape[1], dim=1).transpose(0, 1)

        query, key = by_head(self.query) * self.scale, by_head(self.key)
        decay = self.decay[place].double().transpose(0, 1)
        decay = decay if decay.ndim == 3 else decay[..., None]
        strength = None if self.strength is None else self.strength[place].double().T
        chunk = _Chunk(place, query, key, decay.cumsum(dim=1), strength)
        if not self.removes:
            return chunk
        overlap = _decayed(key, key, chunk.decay).tril(-1)
        return replace(chunk, removal=overlap if strength is None else overlap * strength[..., None])


@dataclass(frozen=True)
class _Chunk:
    """Some tokens in float64: query, key [H, C, E], decay since the chunk began [H, C, 1 or E], strength [H, C].

    removal: stril(diag(b) K Kᵀ * G), [H, C, C]; None where nothing is removed.
    """

    place: slice
    query: Tensor
    key: Tensor
    decay: Tensor
    strength: Tensor | None
    removal: Tensor | None = None

    def since_start(self) -> Tensor:
        return self.decay.exp()

    def until_end(self) -> Tensor:
        return (self.decay[:, -1:] - self.decay).exp()

    def own_reads(self) -> Tensor:
        """tril(Q Kᵀ * G) within the chunk, [H, C, C]."""
        return _decayed(self.query, self.key, self.decay).tril()


def _decayed(left: Tensor, right: Tensor, decay: Tensor) -> Tensor:
    """Products left_i . right_j, decayed from j to i, [H, C, C]; only j <= i means anything."""
    if decay.shape[-1] == 1:
        between = (decay - decay.mT).tril()  # above, a growth that may overflow
        return (left @ right.mT) * between.exp()
    rows = []
    for one_left, one_right, one_decay in zip(left, right, decay, strict=True):  # a head's cube at once
        between = (one_decay[:, None] - one_decay[None]).clamp(max=0).exp()
        rows.append(torch.einsum("id,jd,ijd->ij", one_left, one_right, between))
    return torch.stack(rows)


def _solve_right(reads: Tensor, removal: Tensor) -> Tensor:
    """X with X (I + removal) = reads."""
    solved: Tensor = torch.linalg.solve_triangular(removal, reads, upper=False, left=False, unitriangular=True)
    return solved
