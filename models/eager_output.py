"""Attention of models that bypass transformers' registry: the softmax of their own eager attention is watched.

While such a model is recorded, every softmax over the scores of all pairs of tokens, [B, H, Q, T] or [B H, Q, T], is
reported as an attention call, in the order in which they happen; afterwards the reported weights must equal, map by
map, what the model hands out under output_attentions. The scores are kept as they are, so such a recording grows with
the square of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from models.attention import AttentionCall, report
from models.config import Stream
from models.dropping import without_dropped
from models.masks import DenseMask

_SOFTMAX = (torch.softmax, torch.nn.functional.softmax, Tensor.softmax)
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class GivenScores:
    """An attention that was seen, not computed: its scores [B, H, Q, T], masked cells as the model fills them."""

    scores: Tensor

    @property
    def scale(self) -> None:
        """None: there is no query and no key to compute it again from."""
        return

    @property
    def positional(self) -> bool:
        """True: it holds one score for each key."""
        return True

    @property
    def sinks(self) -> bool:
        """False: these are softmaxes over keys alone."""
        return False

    def added(self, rows: slice, keys: int) -> None:
        """None: whatever was added is in the scores."""
        return

    def of_sequence(self, row: int, real: slice) -> GivenScores:
        """Those of one sequence of a padded batch, between its real tokens."""
        return replace(self, scores=self.scores[row : row + 1, :, real, real].clone())

    def of_head(self, head: int) -> GivenScores:
        """Those of one head."""
        return replace(self, scores=self.scores[:, head : head + 1])

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """-> an output of width 0 [B, H, Q, 0] (it was not seen), and weights [B, H, Q, T] = softmax(scores)."""
        weights = torch.softmax(self.scores[:, :, rows], dim=-1)
        return weights.new_zeros(*weights.shape[:-1], 0), weights


@dataclass(frozen=True)
class Expected:
    """By what a softmax is known to be attention over all pairs of tokens.

    batch: B. lengths: of the texts that queries and keys come from. heads: what H may be. kv_heads: K; None where each
    head has its own. stream: of the call with that number, counted from 0.
    """

    batch: int
    lengths: frozenset[int]
    heads: frozenset[int]
    kv_heads: int | None
    stream: Callable[[int], Stream]

    def scores(self, scores: Tensor) -> Tensor | None:
        """The scores as [B, H, Q, T]; None where they are something else (a router's, a convolution's)."""
        if scores.ndim == 3 and len(scores) in {self.batch * heads for heads in self.heads}:
            scores = scores.reshape(self.batch, -1, *scores.shape[1:])
        square = scores.ndim == 4 and {*scores.shape[2:]} <= self.lengths
        return scores if square and len(scores) == self.batch else None


class WatchedSoftmax(TorchFunctionMode):
    """Inside the block, and on its thread alone, a softmax over pairs of tokens is reported as an attention call."""

    def __init__(self, expected: Expected) -> None:
        super().__init__()
        self.expected = expected
        self.seen: list[tuple[Tensor, Tensor]] = []  # scores and weights

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result: Tensor = func(*args, **(kwargs or {}))
        if func in _SOFTMAX and (scores := self.expected.scores(args[0])) is not None:
            stream = self.expected.stream(len(self.seen))
            weights = without_dropped(result.reshape(scores.shape), stream)
            self.seen.append((scores.detach().clone(), weights))
            self._report(self.seen[-1][0], stream)
            return weights.reshape(result.shape)
        return result

    def _report(self, scores: Tensor, stream: Stream) -> None:
        batch, heads, queries, keys = scores.shape
        kv_heads = self.expected.kv_heads
        key_heads = heads if kv_heads is None or heads % kv_heads else kv_heads
        query = scores.new_zeros(batch, heads, queries, 0)
        key = scores.new_zeros(batch, key_heads, keys, 0)
        report(AttentionCall(GivenScores(scores), query, key, key, DenseMask(scores), stream))

    def agree(self, handed_out: Sequence[Tensor]) -> None:
        """Raise ValueError unless what was reported is what the model hands out, in its order."""
        if len(handed_out) != len(self.seen):
            shapes = " and ".join(sorted({str(tuple(given.shape)) for given in handed_out}))
            raise ValueError(
                f"{len(self.seen)} softmaxes over all pairs of tokens were seen, where it hands out {len(handed_out)} "
                f"maps of the shapes {shapes} for {' and '.join(map(str, sorted(self.expected.lengths)))} tokens"
            )
        for number, ((scores, weights), given) in enumerate(zip(self.seen, handed_out, strict=True)):
            # SqueezeBERT hands out the scores, all others the weights.
            if not _equal(weights, given) and not _equal(scores, given):
                raise ValueError(f"map {number} that it hands out is not the softmax that was seen")


def _equal(seen: Tensor, given: Tensor) -> bool:
    """But for rounding; a softmax in float32 may be handed out in half precision."""
    return seen.shape == given.shape and float((seen.to(given.dtype) - given).abs().float().max()) <= _TOLERANCE
