"""Attention functions: the arithmetic of a head on its queries, keys and values, as plain data that needs no model.

`DotProductAttention` is the paper's. `ComposedAttention` is put together from parts, each a choice. The modules that
learn a function's tensors are in models/transformer/learned_attention.py.

Shapes: B batch, H heads, K kv heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from math import inf, log
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.functional import dropout

from models.attention.scores import DotScore, Fill, FillWith, ScoreFunction, by_head


class SideKeys(NamedTuple):
    """Keys of the function itself beside the tokens': key, value [B, H, G, E], added to their scores [B, H, Q, G]."""

    key: Tensor
    value: Tensor
    added: Tensor | None


class AttentionFunction(Protocol):
    """The arithmetic of a head on its queries, keys and values."""

    @property
    def scale(self) -> float | None:
        """The factor on query . key; None where the function is more than a scaled dot product."""
        ...

    @property
    def positional(self) -> bool:
        """True where the place of a key among all keys counts, so that masked keys cannot be left out."""
        ...

    @property
    def sinks(self) -> bool:
        """True if a part of each row's weight goes to no key (a learned sink), so that rows sum to less than 1."""
        ...

    @property
    def normalised(self) -> bool:
        """True if a softmax makes the weights, so that no row sums to more than 1; False for a sigmoid."""
        ...

    def added(self, rows: slice, keys: int) -> Tensor | None:
        """Numbers added to the scaled scores of the query rows, [1 or B, H, rows, T]; None for nothing."""
        ...

    def side(self, rows: slice) -> SideKeys | None:
        """Keys beside the tokens' keys, for the query rows; None for none."""
        ...

    def of_sequence(self, row: int, real: slice) -> AttentionFunction:
        """Keep one sequence of a padded batch: row `row`, and of that row its real tokens, the columns `real`.

        Learned tensors are copied, so that later training changes no record.
        """
        ...

    def of_head(self, head: int) -> AttentionFunction:
        """Keep one head: the function is then called with that head's query, key and value, H = K = 1."""
        ...

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """query [B, H, Q, E] (the rows `rows` of all), key and value [B, K, T, E], mask boolean [B, H, Q, T]
        -> output [B, H, Q, E] and weights [B, H, Q, T]."""
        ...


@dataclass(frozen=True)
class DotProductAttention:
    """softmax(Q K^T * scale) V, with scale = 1/sqrt(E) (Vaswani et al. 2017, eq. 1).

    dropout: share of the weights dropped while training.
    """

    scale: float
    dropout: float = 0.0

    @property
    def positional(self) -> bool:
        """False: a masked key weighs nothing, wherever it stands."""
        return False

    @property
    def sinks(self) -> bool:
        """False: rows sum to 1."""
        return False

    @property
    def normalised(self) -> bool:
        """True: a softmax makes the weights."""
        return True

    def added(self, rows: slice, keys: int) -> None:
        """Return None: scores are the scaled product alone."""
        return

    def side(self, rows: slice) -> None:
        """Return None: all keys are tokens'."""
        return

    def of_sequence(self, row: int, real: slice) -> DotProductAttention:
        """Return the same function: nothing in it belongs to one sequence."""
        return self

    def of_head(self, head: int) -> DotProductAttention:
        """Return the same function: nothing in it belongs to one head."""
        return self

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """query [B, H, Q, E], key and value [B, K, T, E] -> output [B, H, Q, E], weights [B, H, Q, T]."""
        key, value = for_each_head(key, query.shape[1]), for_each_head(value, query.shape[1])
        scores = query @ key.transpose(-2, -1) * self.scale  # [B, H, Q, T]
        if mask is not None:
            scores = scores.masked_fill(~mask, -inf)
        weights = torch.softmax(scores, dim=-1)
        return dropout(weights, self.dropout) @ value, weights


class Bias(Protocol):
    """A number added to the score of each pair of positions (T5 and ALiBi in models/attention/relative.py)."""

    def __call__(self, rows: slice, keys: int) -> Tensor:
        """[H, rows, keys]."""
        ...

    def of_head(self, head: int) -> Bias:
        """Keep one head, H = 1."""
        ...


class Mix(Protocol):
    """A way to gather the values by their weights."""

    def __call__(self, weights: Tensor, value: Tensor, rows: slice) -> Tensor:
        """weights [B, H, Q, T], value [B, H, T, E] -> [B, H, Q, E]."""
        ...


@dataclass(frozen=True)
class WeightedSum:
    """output_i = sum_j weight_ij v_j."""

    def __call__(self, weights: Tensor, value: Tensor, rows: slice) -> Tensor:
        """[B, H, Q, T], [B, H, T, E] -> [B, H, Q, E]."""
        return weights @ value


@dataclass(frozen=True)
class ComposedAttention:
    """mix(softmax(fill(score(Q, K) * factor + bias)), V): every part a choice.

    fill_first: mask before the scale and the bias, not after. sigmoid: each score becomes a weight by itself, see
    `sigmoid_weights`, and rows need not sum to 1.
    """

    score: ScoreFunction
    factor: float
    bias: Bias | None
    fill: Fill
    fill_first: bool
    mix: Mix
    dropout: float = 0.0
    sigmoid: bool = False

    @property
    def scale(self) -> float | None:
        """The factor, where the rest is a dot product, a bias, a true mask, a softmax and a sum; None for else."""
        usual = self.score == DotScore() and self.mix == WeightedSum() and self.fill == FillWith(-inf)
        return self.factor if usual and self.normalised else None

    @property
    def normalised(self) -> bool:
        """True for the softmax, False for the sigmoid."""
        return not self.sigmoid

    @property
    def sinks(self) -> bool:
        """False: no weight goes beside the keys."""
        return False

    def added(self, rows: slice, keys: int) -> Tensor | None:
        """The bias [1, H, rows, T] of T5 or ALiBi, where there is one."""
        return None if self.bias is None else self.bias(rows, keys)[None]

    def side(self, rows: slice) -> None:
        """Return None: all keys are tokens'."""
        return

    @property
    def positional(self) -> bool:
        """True: a bias can count places, and a finite fill leaves masked keys their weight."""
        return True

    def of_sequence(self, row: int, real: slice) -> ComposedAttention:
        """Copy the function: its biases count distances, which padding does not change."""
        copied: ComposedAttention = snapshot(self)
        return copied

    def of_head(self, head: int) -> ComposedAttention:
        """Keep the head's part of the score's and the bias's tensors."""
        bias = None if self.bias is None else self.bias.of_head(head)
        return replace(self, score=self.score.of_head(head), bias=bias)

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """query [B, H, Q, E], key and value [B, K, T, E] -> output [B, H, Q, E], weights [B, H, Q, T]."""
        key, value = for_each_head(key, query.shape[1]), for_each_head(value, query.shape[1])
        scores = self.score(query, key, rows)  # [B, H, Q, T]
        if mask is not None and self.fill_first:
            scores = self.fill(scores, mask)
        scores = scores * self.factor
        if self.bias is not None:
            scores = scores + self.bias(rows, key.shape[2]).to(scores)
        if mask is not None and not self.fill_first:
            scores = self.fill(scores, mask)
        weights = sigmoid_weights(scores, mask) if self.sigmoid else torch.softmax(scores, dim=-1)
        return self.mix(dropout(weights, self.dropout), value, rows), weights


def sigmoid_weights(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Weigh each key by itself: sigmoid(s_ij - ln n_i), n_i the keys that query i sees (Ramapuram et al. 2024, eq. 4).

    With scores around 0 each weight is then about 1 / n_i and a row sums to about 1, as a softmax's does. The paper
    takes the text's length for n; here n_i leaves out what the mask hides. So padding and later tokens change no row,
    and a query weighs alike in a batch, in a cache and alone. scores [B, H, Q, T], mask boolean, broadcastable.
    """
    if mask is None:
        return by_head(torch.sigmoid, scores - log(scores.shape[-1]))
    seen = mask.expand_as(scores).sum(dim=-1, keepdim=True).clamp(min=1)  # 0 where a query sees nothing
    return by_head(torch.sigmoid, scores - by_head(torch.log, seen.to(scores.dtype)))


def for_each_head(x: Tensor, heads: int) -> Tensor:
    """Repeat each kv head for the H / K query heads that share it (GQA, Ainslie et al. 2023).

    [B, K, T, E] -> [B, H, T, E].
    """
    return x if x.shape[1] == heads else x.repeat_interleave(heads // x.shape[1], dim=1)


def snapshot(part: Any) -> Any:
    """Copy the tensors of a function, or of a part of a function, so that later training changes no record."""
    if isinstance(part, Tensor):
        return part.detach().clone()
    if not is_dataclass(part) or isinstance(part, type):
        return part
    return replace(part, **{field.name: snapshot(getattr(part, field.name)) for field in fields(part)})
