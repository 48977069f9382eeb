"""The modules that learn the tensors of an attention function, and hand the function out at each call.

The functions themselves are pure (models/attention/functions.py, scores.py, relative.py), so that a recording can keep
them without the model.

Shapes: H heads, E head width.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, sqrt

import torch
from torch import Generator, Tensor, nn

from models.attention import DotProductAttention, Stream
from models.attention.functions import Bias, ComposedAttention, WeightedSum
from models.attention.relative import AlibiBias, ShawMix, ShawScore, T5Bias, XlScore, alibi_slopes
from models.attention.scores import (
    AdditiveScore,
    CosineScore,
    DotScore,
    Fill,
    FillWith,
    GeneralScore,
    LinearScore,
    MultiplyByZero,
    NaiveAdditiveScore,
    ScoreFunction,
)
from models.transformer.config import Score, TransformerConfig
from models.transformer.positions import waves

Tensors = dict[str, Tensor]
BIAS_DEVIATION = 0.02  # of u and v of Transformer-XL at the start, as its authors draw them


@torch.no_grad()
def put(module: nn.Module, tensors: Tensors) -> None:
    """Replace the values of a module's own parameters."""
    for name, tensor in tensors.items():
        module.get_parameter(name).copy_(tensor)


# --- scores ------------------------------------------------------------------------------------------------------


class LearnedScore(nn.Module):
    """The learned tensors of a score function; a call gives the function, freed from the module."""

    def __init__(self, function: Callable[..., ScoreFunction], tensors: Callable[[Generator | None], Tensors]) -> None:
        super().__init__()
        self.function, self.tensors = function, tensors
        for name, tensor in tensors(None).items():
            self.register_parameter(name, nn.Parameter(tensor))

    def draw(self, generator: Generator) -> None:
        """Draw the tensors anew."""
        put(self, self.tensors(generator))

    def forward(self) -> ScoreFunction:
        """The function with the tensors as they are now."""
        return self.function(**dict(self.named_parameters()))


def no_tensors(generator: Generator | None) -> Tensors:
    """Nothing is learned."""
    return {}


def general_tensors(generator: Generator | None, *, heads: int, width: int) -> Tensors:
    """Draw W of each head, of a size that keeps the variance of the scores at E."""
    return {"weight": torch.randn(heads, width, width, generator=generator) / sqrt(width)}


def additive_tensors(generator: Generator | None, *, heads: int, width: int) -> Tensors:
    """Draw W_q, W_k, b and v of each head."""
    return {
        "query_weight": torch.randn(heads, width, width, generator=generator) / sqrt(2 * width),
        "key_weight": torch.randn(heads, width, width, generator=generator) / sqrt(2 * width),
        "bias": torch.zeros(heads, width),
        "v": torch.randn(heads, width, generator=generator),
    }


def learned_score(score: Score, *, heads: int, head_width: int) -> LearnedScore:
    """Build the score function of a name for H heads of width E."""
    general = partial(general_tensors, heads=heads, width=head_width)
    additive = partial(additive_tensors, heads=heads, width=head_width)
    match score:
        case "dot":
            return LearnedScore(DotScore, no_tensors)
        case "cosine":
            return LearnedScore(CosineScore, no_tensors)
        case "general":
            return LearnedScore(GeneralScore, general)
        case "additive":
            return LearnedScore(AdditiveScore, additive)
        case "additive_naive":
            return LearnedScore(NaiveAdditiveScore, additive)


# --- positions as distances --------------------------------------------------------------------------------------


class T5Positions(nn.Module):
    """The table of a stack, one for all its layers (Raffel et al. 2020)."""

    def __init__(self, heads: int, count: int, *, farthest: int, both_sides: bool) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(count, heads))
        self.farthest, self.both_sides = farthest, both_sides

    def draw(self, generator: Generator) -> None:
        """Draw the table anew."""
        put(self, {"table": torch.randn(self.table.shape, generator=generator)})

    def forward(self, offset: int) -> T5Bias:
        """The rule for queries that begin at position `offset`."""
        return T5Bias(self.table, self.farthest, self.both_sides, offset)


class AlibiPositions(nn.Module):
    """The slopes of a stack; nothing is learned."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.slopes = alibi_slopes(heads)

    def forward(self, offset: int) -> AlibiBias:
        """The rule for queries that begin at position `offset`."""
        return AlibiBias(self.slopes, offset)


def stack_positions(config: TransformerConfig, *, causal: bool) -> T5Positions | AlibiPositions | None:
    """Build the bias of a stack's self-attention; None where positions enter elsewhere."""
    if config.positions == "alibi":
        return AlibiPositions(config.heads)
    if config.positions == "t5":
        return T5Positions(
            config.heads, config.relative_buckets, farthest=config.relative_distance, both_sides=not causal
        )
    return None


# --- attention functions -----------------------------------------------------------------------------------------


class PlainAttention(nn.Module):
    """Scaled dot product; nothing is learned."""

    def __init__(self, scale: float, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.scale, self.dropout = scale, dropout

    def forward(self, *, bias: Bias | None, offset: int, keys: int) -> DotProductAttention:
        """Return the function; in training it drops weights."""
        return DotProductAttention(self.scale, self.dropout if self.training else 0.0)


class ChosenAttention(nn.Module):
    """The score, fill and order that a config names; each call is given the stack's bias (T5, ALiBi)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        linear = config.weighting == "linear"
        self.score: nn.Module = (
            LearnedScore(LinearScore, no_tensors)
            if linear
            else learned_score(config.score, heads=config.heads, head_width=config.head_width)
        )
        self.scale, self.dropout = 1.0 if linear else config.scale_factor, config.attention_dropout
        self.sigmoid = config.weighting == "sigmoid"
        self.fill: Fill = MultiplyByZero() if config.mask_fill == "zero" else FillWith(config.mask_fill)
        self.fill_first = config.mask_before_scale

    def forward(self, *, bias: Bias | None, offset: int, keys: int) -> ComposedAttention:
        """The function, with its learned tensors as they are now."""
        share = self.dropout if self.training else 0.0
        return ComposedAttention(
            self.score(), self.scale, bias, self.fill, self.fill_first, WeightedSum(), share, self.sigmoid
        )


class ShawAttention(ChosenAttention):
    """Dot products that know the distance: two tables of 2k + 1 vectors, one met by queries, one added to values."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        rows, width = 2 * config.relative_distance + 1, config.head_width
        self.key_distances = nn.Parameter(torch.randn(rows, width) / sqrt(width))
        self.value_distances = nn.Parameter(torch.randn(rows, width) / sqrt(width))

    def draw(self, generator: Generator) -> None:
        """Draw both tables anew."""
        rows, width = self.key_distances.shape
        names = ("key_distances", "value_distances")
        put(self, {name: torch.randn(rows, width, generator=generator) / sqrt(width) for name in names})

    def forward(self, *, bias: Bias | None, offset: int, keys: int) -> ComposedAttention:
        """The function for queries that begin at position `offset`."""
        share = self.dropout if self.training else 0.0
        score, mix = ShawScore(self.key_distances, offset), ShawMix(self.value_distances, offset)
        return ComposedAttention(score, self.scale, bias, self.fill, self.fill_first, mix, share, self.sigmoid)


class XlAttention(ChosenAttention):
    """Dot products that know the distance by its sines and cosines, through a matrix W_R (Dai et al. 2019).

    W_R and the head's vectors u and v are each layer's own, as with the authors' option --untie_r.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.heads, self.causal = config.heads, config.is_causal
        self.distance = nn.Linear(config.width, config.heads * config.head_width, bias=False)  # W_R
        self.content = nn.Parameter(torch.randn(config.heads, config.head_width) * BIAS_DEVIATION)  # u
        self.place = nn.Parameter(torch.randn(config.heads, config.head_width) * BIAS_DEVIATION)  # v

    def draw(self, generator: Generator) -> None:
        """Draw u and v anew; W_R is drawn with the other matrices."""
        shape = self.content.shape
        put(self, {name: torch.randn(shape, generator=generator) * BIAS_DEVIATION for name in ("content", "place")})

    def forward(self, *, bias: Bias | None, offset: int, keys: int) -> ComposedAttention:
        """The function for queries from position `offset` up to the last of the keys."""
        first = 0 if self.causal else offset - keys  # one more than there are ahead, as XLNet has it: 2n of n tokens
        score = XlScore(self.content, self.place, self.vectors(torch.arange(first, keys)), first, offset)
        share = self.dropout if self.training else 0.0
        return ComposedAttention(
            score, self.scale, bias, self.fill, self.fill_first, WeightedSum(), share, self.sigmoid
        )

    def vectors(self, distances: Tensor) -> Tensor:
        """W_R R_d of whole distances d [N], how far a key stands behind its query -> [H, N, E]."""
        weight = self.distance.weight
        made: Tensor = self.distance(waves(distances, weight.shape[1]).to(weight))  # [N, H E]
        return made.reshape(len(distances), self.heads, -1).movedim(1, 0)


def make_function(config: TransformerConfig, *, stream: Stream) -> PlainAttention | ChosenAttention:
    """Build the attention function of one layer; positions act within one text, so not in cross-attention."""
    if config.positions == "shaw" and stream != "cross":
        return ShawAttention(config)
    if config.positions == "xl" and stream != "cross":
        return XlAttention(config)
    if is_plain(config, stream=stream):
        return PlainAttention(config.scale_factor, dropout=config.attention_dropout)
    return ChosenAttention(config)


def is_plain(config: TransformerConfig, *, stream: Stream) -> bool:
    """Return True for the paper's attention: a scaled dot product, masked with -inf, nothing added."""
    relative = config.positions in ("t5", "alibi", "shaw", "xl") and stream != "cross"
    usual = config.score == "dot" and config.weighting == "softmax" and config.mask_fill == -inf
    return usual and not config.mask_before_scale and not relative
