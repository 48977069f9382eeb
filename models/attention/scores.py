"""Score functions, which measure how alike a query and a key are, and the ways to fill masked scores.

A score is a pure function of tensors, so that a recording can keep it without the model. The learned tensors belong to
a module, `LearnedScore` in models/transformer/learned_attention.py.

Shapes: B batch, H heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Protocol, Self

import torch
from torch import Tensor
from torch.nn.functional import elu, normalize


class ScoreFunction(Protocol):
    """Scores before scale, bias and mask."""

    def __call__(self, query: Tensor, key: Tensor, rows: slice) -> Tensor:
        """query [B, H, Q, E] (the rows `rows` of all), key [B, H, T, E] -> [B, H, Q, T]."""
        ...

    def of_head(self, head: int) -> ScoreFunction:
        """Keep one head, H = 1."""
        ...


@dataclass(frozen=True)
class DotScore:
    """score(q, k) = q . k (Luong et al. 2015, "dot"; Vaswani et al. 2017)."""

    def __call__(self, query: Tensor, key: Tensor, rows: slice) -> Tensor:
        """[B, H, Q, E], [B, H, T, E] -> [B, H, Q, T]."""
        return query @ key.transpose(-2, -1)

    def of_head(self, head: int) -> DotScore:
        """Return the same function: nothing in it belongs to one head."""
        return self


@dataclass(frozen=True)
class CosineScore:
    """score(q, k) = q . k / (|q| |k|), from -1 to 1: direction alone, so that no long key draws every query."""

    def __call__(self, query: Tensor, key: Tensor, rows: slice) -> Tensor:
        """[B, H, Q, E], [B, H, T, E] -> [B, H, Q, T]."""
        return normalize(query, dim=-1) @ normalize(key, dim=-1).transpose(-2, -1)

    def of_head(self, head: int) -> CosineScore:
        """Return the same function: nothing in it belongs to one head."""
        return self


@dataclass(frozen=True)
class LinearScore:
    """score(q, k) = ln(phi(q) . phi(k)), phi(x) = elu(x) + 1: linear attention (Katharopoulos et al. 2020, eq. 7).

    The softmax of a logarithm divides by the row's sum: weight_ij = phi(q_i) . phi(k_j) / sum_t phi(q_i) . phi(k_t).
    A softmax over dot products has exp(q . k) in the place of phi(q) . phi(k), so a score is ln of the similarity in
    both. A factor on the similarity cancels, which is why there is no scale. `linear_attention` gives the same output
    without the pairs. RoPE turns q and k before phi, so what it adds depends on both positions, not on the distance.
    """

    def __call__(self, query: Tensor, key: Tensor, rows: slice) -> Tensor:
        """[B, H, Q, E], [B, H, T, E] -> [B, H, Q, T]."""
        query, key = by_head(positive_features, query), by_head(positive_features, key)
        alike = query @ key.transpose(-2, -1)
        alike = alike.clamp(min=torch.finfo(alike.dtype).tiny)  # 0 by underflow alone; ln 0 = -inf is for masked keys
        return by_head(torch.log, alike)

    def of_head(self, head: int) -> LinearScore:
        """Return the same function: nothing in it belongs to one head."""
        return self


def by_head(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Apply an element-wise function to one head after the other: [B, H, ...] -> [B, H, ...].

    torch rounds the last elements of a tensor otherwise than the elements before. So one head alone gets the bits that
    it has among all.
    """
    return torch.stack([function(head) for head in x.unbind(dim=1)], dim=1)


def positive_features(x: Tensor) -> Tensor:
    """phi(x) = elu(x) + 1 (Katharopoulos et al. 2020): 1 + x above zero, e^x below; never negative."""
    return elu(x) + 1


def linear_attention(query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False) -> Tensor:
    """Linear attention without pairs: phi(Q) (phi(K)^T V) over phi(Q) (phi(K)^T 1) (Katharopoulos et al. 2020, eq. 6).

    query [B, H, Q, E], key and value [B, H, T, E] -> [B, H, Q, E]. No [Q, T] tensor is made: work grows with the text
    and not with its square. causal: query i sees the keys 0 .. i, as running sums (eq. 9); Q = T.
    """
    query, key = positive_features(query), positive_features(key)
    if not causal:
        joined = key.transpose(-2, -1) @ value  # [B, H, E, E]
        return (query @ joined) / (query @ key.sum(dim=-2)[..., None])
    joined = (key[..., :, None] * value[..., None, :]).cumsum(dim=-3)  # [B, H, T, E, E]
    mixed = (query[..., None, :] @ joined).squeeze(-2)
    return mixed / (query * key.cumsum(dim=-2)).sum(dim=-1, keepdim=True)


@dataclass(frozen=True)
class GeneralScore:
    """score(q, k) = q^T W k (Luong et al. 2015, "general"), with one W [E, E] for each head.

    weight: [H, E, E].
    """

    weight: Tensor

    def __call__(self, query: Tensor, key: Tensor, rows: slice) -> Tensor:
        """[B, H, Q, E], [B, H, T, E] -> [B, H, Q, T]."""
        return query @ self.weight @ key.transpose(-2, -1)

    def of_head(self, head: int) -> GeneralScore:
        """Keep the head's W."""
        return GeneralScore(self.weight[head : head + 1])


@dataclass(frozen=True)
class AdditiveScore:
    """score(q, k) = v^T tanh(W_q q + W_k k + b) (Bahdanau et al. 2015, appendix A.1.2), factorised.

    W_q q and W_k k are computed once for each token, not for each pair: n E^2 + n^2 E operations, not n^2 E^2.
    query_weight, key_weight: [H, E, E]; bias, v: [H, E].
    """

    query_weight: Tensor
    key_weight: Tensor
    bias: Tensor
    v: Tensor

    def __call__(self, query: Tensor, key: Tensor, rows: slice) -> Tensor:
        """[B, H, Q, E], [B, H, T, E] -> [B, H, Q, T]."""
        queries = query @ self.query_weight.mT + self.bias[:, None]  # [B, H, Q, E]
        keys = key @ self.key_weight.mT  # [B, H, T, E]
        hidden = torch.tanh(queries[:, :, :, None] + keys[:, :, None])  # [B, H, Q, T, E]
        return (hidden @ self.v[:, None, :, None]).squeeze(-1)

    def of_head(self, head: int) -> Self:
        """Keep the head's W_q, W_k, b and v."""
        return replace(self, **{field.name: getattr(self, field.name)[head : head + 1] for field in fields(self)})


@dataclass(frozen=True)
class NaiveAdditiveScore(AdditiveScore):
    """The same function as it is often written: v^T tanh(W [q; k] + b), W = [W_q W_k], one pair at a time."""

    def __call__(self, query: Tensor, key: Tensor, rows: slice) -> Tensor:
        """[B, H, Q, E], [B, H, T, E] -> [B, H, Q, T]."""
        weight = torch.cat([self.query_weight, self.key_weight], dim=-1)  # [H, E, 2E]
        scores = []
        for q in query.unbind(dim=2):  # [B, H, E]
            for k in key.unbind(dim=2):
                pair = torch.cat([q, k], dim=-1)  # [B, H, 2E]
                hidden = torch.tanh((weight @ pair[..., None]).squeeze(-1) + self.bias)  # [B, H, E]
                scores.append((hidden * self.v).sum(dim=-1))  # [B, H]
        return torch.stack(scores, dim=-1).view(*query.shape[:3], key.shape[2])


# --- masked scores -----------------------------------------------------------------------------------------------


class Fill(Protocol):
    """A way to fill the scores of keys that a query must not see."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        """scores [B, H, Q, T], mask boolean, True where the query attends -> [B, H, Q, T]."""
        ...


@dataclass(frozen=True)
class FillWith:
    """Set masked scores to one number: after softmax -inf is exactly 0, a finite number leaves e^number behind."""

    value: float

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        """[B, H, Q, T] -> [B, H, Q, T]."""
        return scores.masked_fill(~mask, self.value)


@dataclass(frozen=True)
class MultiplyByZero:
    """Multiply masked scores by 0, a mistake to be seen: nothing is masked, because e^0 = 1."""

    def __call__(self, scores: Tensor, mask: Tensor) -> Tensor:
        """[B, H, Q, T] -> [B, H, Q, T]."""
        return scores * mask
