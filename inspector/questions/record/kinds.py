"""Kinds of models that questions are asked of, and the bundled models that stand in for a model of another kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.questions.record.both import Both

if TYPE_CHECKING:
    import models


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    can: tells whether a model is of the kind. lacks: says what a model of another kind lacks, after its name. instead:
    the ids of bundled models that stand in for a model of another kind, the best first.
    """

    can: Callable[[models.LoadedModel], bool]
    lacks: Both
    instead: tuple[str, ...]

    def stand_in(self, at_hand: Callable[[str], bool]) -> str:
        """Choose the first of `instead` that is at hand; where none is, the first, whose loading says why."""
        return next(filter(at_hand, self.instead), self.instead[0])


ENCODERS = ("minilm", "mini-bert")  # the second is in the repository
ANY = Kind(lambda loaded: True, Both("", ""), ENCODERS)
ENCODER = Kind(
    lambda loaded: loaded.shape == "encoder",
    Both("is no encoder that reads in both directions", "不是双向阅读的编码器"),
    ENCODERS,
)
DECODER = Kind(
    lambda loaded: loaded.shape == "decoder",
    Both("is no decoder with a causal mask", "不是带因果掩码的解码器"),
    ("mini-gpt",),
)
ENCODER_DECODER = Kind(
    lambda loaded: loaded.shape == "encoder-decoder",
    Both("is no encoder-decoder, and has no cross-attention", "不是编码器-解码器，没有交叉注意力"),
    ("translator",),
)
WRITES = Kind(
    lambda loaded: loaded.runner.writes,
    Both("does not write", "不能生成文本"),
    ("mini-gpt",),
)
PREDICTS = Kind(
    lambda loaded: loaded.runner.predicts,
    Both("predicts no tokens", "不能预测 token"),
    ("mini-bert",),
)
FILLS_MASKS = Kind(
    lambda loaded: loaded.fills_masks,
    Both("guesses no hidden tokens", "不能猜被遮住的 token"),
    ("mini-bert",),
)
