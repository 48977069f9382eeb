"""Attention functions: what a head does with its queries, keys and values, as plain data that needs no model.

`DotProductAttention` is the paper's. `ComposedAttention` is put together from parts, each a choice. The modules at the
end own what a function learns and hand the function out at each call.

Shapes: B batch, H heads, K kv heads, Q query positions, T key positions, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from math import inf, sqrt
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from models.attention.scores import DotScore, Fill, FillWith, MultiplyByZero, ScoreFunction, learned_score
from models.transformer.config import Stream, TransformerConfig
from models.transformer.relative import Bias, ShawMix, ShawScore


class AttentionFunction(Protocol):
    """What one head does with its queries, keys and values."""

    @property
    def scale(self) -> float | None:
        """The factor on query . key; None where the function is more than a scaled dot product."""
        ...

    @property
    def positional(self) -> bool:
        """Whether it counts where a key stands among all keys, so that masked keys cannot be left out."""
        ...

    @property
    def sinks(self) -> bool:
        """Whether a part of each row's weight goes to no key (a learned sink), so that rows sum to less than 1."""
        ...

    def added(self, rows: slice, keys: int) -> Tensor | None:
        """What it adds to the scaled scores of the query rows, [1 or B, H, rows, T]; None for nothing."""
        ...

    def of_sequence(self, row: int, real: slice) -> AttentionFunction:
        """The same for one sequence of a padded batch: row `row`, between its real tokens, the columns `real`.

        What a function has learned is copied, so that later training changes no record.
        """
        ...

    def of_head(self, head: int) -> AttentionFunction:
        """The same for one head alone: to be called with that head's query, key and value, H = K = 1."""
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

    def added(self, rows: slice, keys: int) -> None:
        """None: scores are the scaled product alone."""
        return

    def of_sequence(self, row: int, real: slice) -> DotProductAttention:
        """Itself: it holds nothing of a batch."""
        return self

    def of_head(self, head: int) -> DotProductAttention:
        """Itself: it holds nothing of a head."""
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


class Mix(Protocol):
    """What the weights gather."""

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

    fill_first: mask before the scale and the bias, not after.
    """

    score: ScoreFunction
    factor: float
    bias: Bias | None
    fill: Fill
    fill_first: bool
    mix: Mix
    dropout: float = 0.0

    @property
    def scale(self) -> float | None:
        """The factor, where the rest is a dot product, a bias, a true mask and a sum; None for anything else."""
        usual = self.score == DotScore() and self.mix == WeightedSum() and self.fill == FillWith(-inf)
        return self.factor if usual else None

    @property
    def sinks(self) -> bool:
        """False: rows sum to 1."""
        return False

    def added(self, rows: slice, keys: int) -> Tensor | None:
        """The bias [1, H, rows, T] of T5 or ALiBi, where there is one."""
        return None if self.bias is None else self.bias(rows, keys)[None]

    @property
    def positional(self) -> bool:
        """True: a bias can count places, and a finite fill leaves masked keys their weight."""
        return True

    def of_sequence(self, row: int, real: slice) -> ComposedAttention:
        """A copy: its biases count distances, which padding does not change."""
        copied: ComposedAttention = snapshot(self)
        return copied

    def of_head(self, head: int) -> ComposedAttention:
        """With that head's part of what the score and the bias have learned."""
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
        weights = torch.softmax(scores, dim=-1)
        return self.mix(dropout(weights, self.dropout), value, rows), weights


def for_each_head(x: Tensor, heads: int) -> Tensor:
    """Grouped-query attention: H / K queries share a key (Ainslie et al. 2023). [B, K, T, E] -> [B, H, T, E]."""
    return x if x.shape[1] == heads else x.repeat_interleave(heads // x.shape[1], dim=1)


def snapshot(part: Any) -> Any:
    """The same function, or part of one, with copies of its tensors: what is learned later changes no record."""
    if isinstance(part, Tensor):
        return part.detach().clone()
    if not is_dataclass(part) or isinstance(part, type):
        return part
    return replace(part, **{field.name: snapshot(getattr(part, field.name)) for field in fields(part)})


# --- modules that own what a function learns -----------------------------------------------------------------------


class PlainAttention(nn.Module):
    """Scaled dot product; nothing is learned."""

    def __init__(self, scale: float, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.scale, self.dropout = scale, dropout

    def forward(self, *, bias: Bias | None, offset: int) -> DotProductAttention:
        """The function, in training with its dropout."""
        return DotProductAttention(self.scale, self.dropout if self.training else 0.0)


class ChosenAttention(nn.Module):
    """The score, fill and order that a config names; a stack's bias (T5, ALiBi) is handed in with each call."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.score = learned_score(config.score, heads=config.heads, head_width=config.head_width)
        self.scale, self.dropout = config.scale_factor, config.attention_dropout
        self.fill: Fill = MultiplyByZero() if config.mask_fill == "zero" else FillWith(config.mask_fill)
        self.fill_first = config.mask_before_scale

    def forward(self, *, bias: Bias | None, offset: int) -> ComposedAttention:
        """The function, with its learned tensors as they are now."""
        share = self.dropout if self.training else 0.0
        return ComposedAttention(self.score(), self.scale, bias, self.fill, self.fill_first, WeightedSum(), share)


class ShawAttention(ChosenAttention):
    """Dot products that know the distance: two tables of 2k + 1 vectors, one met by queries, one added to values."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        rows, width = 2 * config.relative_distance + 1, config.head_width
        self.key_distances = nn.Parameter(torch.randn(rows, width) / sqrt(width))
        self.value_distances = nn.Parameter(torch.randn(rows, width) / sqrt(width))

    def forward(self, *, bias: Bias | None, offset: int) -> ComposedAttention:
        """The function for queries that begin at position `offset`."""
        share = self.dropout if self.training else 0.0
        score, mix = ShawScore(self.key_distances, offset), ShawMix(self.value_distances, offset)
        return ComposedAttention(score, self.scale, bias, self.fill, self.fill_first, mix, share)


def make_function(config: TransformerConfig, *, stream: Stream) -> PlainAttention | ChosenAttention:
    """The attention function of one layer. Positions are those of one text, so they do not act across two."""
    if config.positions == "shaw" and stream != "cross":
        return ShawAttention(config)
    if is_plain(config, stream=stream):
        return PlainAttention(config.scale_factor, dropout=config.attention_dropout)
    return ChosenAttention(config)


def is_plain(config: TransformerConfig, *, stream: Stream) -> bool:
    """Whether a layer's attention is the paper's own: a scaled dot product, masked with -inf, nothing added."""
    relative = config.positions in ("t5", "alibi", "shaw") and stream != "cross"
    return config.score == "dot" and config.mask_fill == -inf and not config.mask_before_scale and not relative
