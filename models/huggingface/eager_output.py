"""Attention of models that bypass transformers' registry: the softmax of their own eager attention is watched.

While such a model is recorded, every softmax over the scores of all pairs of tokens, [B, H, Q, T] or [B H, Q, T], is
reported as an attention call, in the order in which they happen. How the scores were made is followed from the queries
and keys on (score_program.py) and tried at once, every row of it: where that gives the weights that were seen,
it is kept, and the recording is linear in the text (`RecomputedScores`). Where it does not, the scores are kept as they
are, as large as the square of the text (`GivenScores`), and what was seen must equal, map by map, what the model hands
out under output_attentions; when a model is tried out, that is so for every one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from models.attention import AttentionCall, Stream, report, row_blocks
from models.attention.dropping import without_dropped
from models.attention.masks import DenseMask
from models.attention.pairs import CompactTensor, compact, same
from models.huggingface.score_program import Node, Reshaped, ScoreWatch

_SOFTMAX = (torch.softmax, torch.nn.functional.softmax, Tensor.softmax)
_TOLERANCE = 1e-6
_ROUNDINGS = 2  # a score s is rounded to s (1 + eps), which moves a weight w by w s eps; ALiBi's reach thousands


class SeenSoftmax(ABC):
    """The function of an attention seen at its softmax, over keys alone; masked cells as the model fills them."""

    scale = None  # what was done to the scores is in the scores
    positional = True  # there is a score for each key
    sinks = False
    normalised = True

    def added(self, rows: slice, keys: int) -> None:
        """Return None: whatever was added is in the scores."""
        return

    def side(self, rows: slice) -> None:
        """Return None: all keys are tokens'."""
        return

    @abstractmethod
    def rows(self, rows: slice) -> Tensor:
        """Scores of some query rows: [B, H, rows, T]."""

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """Return an output of width 0 [B, H, Q, 0] (it was not seen), and weights [B, H, Q, T] = softmax(scores)."""
        weights = torch.softmax(self.rows(rows), dim=-1)
        return weights.new_zeros(*weights.shape[:-1], 0), weights


@dataclass(frozen=True)
class GivenScores(SeenSoftmax):
    """An attention whose scores are kept as they were seen: [B, H, Q, T]."""

    scores: Tensor

    def rows(self, rows: slice) -> Tensor:
        """Scores of some query rows: [B, H, rows, T]."""
        return self.scores[:, :, rows]

    def of_sequence(self, row: int, real: slice) -> GivenScores:
        """Return the scores of one sequence of a padded batch, between its real tokens."""
        return replace(self, scores=self.scores[row : row + 1, :, real, real].clone())

    def of_head(self, head: int) -> GivenScores:
        """Return the scores of one head."""
        return replace(self, scores=self.scores[:, head : head + 1])


@dataclass(frozen=True)
class RecomputedScores(SeenSoftmax):
    """An attention whose scores are made again as the model made them.

    heads: which of the program's; None for all.
    """

    program: Node
    heads: tuple[int, int] | None = None

    def rows(self, rows: slice) -> Tensor:
        """Scores of some query rows: [1, H, rows, T]."""
        heads = {} if self.heads is None else {-3: slice(*self.heads)}
        return self.program.part({-2: rows, **heads})

    def of_sequence(self, row: int, real: slice) -> RecomputedScores:
        """Return the same object: only texts that are alone in their batch have a program."""
        return self

    def of_head(self, head: int) -> RecomputedScores:
        """Return the scores of one head."""
        return replace(self, heads=(head, head + 1))


@dataclass(frozen=True)
class KeptMask:
    """A mask that was read from the scores."""

    allowed: CompactTensor

    def rows(self, start: int, stop: int) -> Tensor:
        """Boolean [1, 1 or H, stop - start, T]; True where the query attends to the key."""
        return self.allowed.part({-2: slice(start, stop)})


@dataclass(frozen=True)
class ExpectedShape:
    """The shape that a softmax must have to be taken for attention over all pairs of tokens.

    batch: B. lengths: of the texts that queries and keys come from. heads: what H may be. kv_heads: K; None where each
    head has its own. stream: of the call with that number, counted from 0.
    """

    batch: int
    lengths: frozenset[int]
    heads: frozenset[int]
    kv_heads: int | None
    stream: Callable[[int], Stream]

    def scores(self, scores: Tensor) -> Tensor | None:
        """View scores as [B, H, Q, T]; None for any other softmax (a router's, a convolution's)."""
        if scores.ndim == 3 and len(scores) in {self.batch * heads for heads in self.heads}:
            scores = scores.reshape(self.batch, -1, *scores.shape[1:])
        square = scores.ndim == 4 and {*scores.shape[2:]} <= self.lengths
        return scores if square and len(scores) == self.batch else None


class WatchedSoftmax(TorchFunctionMode):
    """Reports softmaxes over pairs of tokens as attention calls, inside the block and on its thread alone.

    keep: whether scores and weights are kept until the model has handed out its own, to be compared (`agree`).
    """

    def __init__(self, expected: ExpectedShape, *, keep: bool) -> None:
        super().__init__()
        self.expected, self.keep = expected, keep
        self.calls = 0
        self.seen: list[tuple[Tensor, Tensor]] = []  # scores and weights
        self._watch = ScoreWatch()
        self._masks: list[KeptMask] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result: Tensor = func(*args, **(kwargs or {}))
        if func in _SOFTMAX and (scores := self.expected.scores(args[0])) is not None:
            stream = self.expected.stream(self.calls)
            self.calls += 1
            result_maps = result.reshape(scores.shape)
            function = self._recomputed(args[0], scores, result_maps)
            weights = without_dropped(result_maps, stream)
            if self.keep or function is None:
                scores = scores.detach().clone()
            if self.keep:
                self.seen.append((scores, weights))
            self._report(scores, function, stream)
            return weights.reshape(result.shape)
        self._watch.see(func, args, kwargs or {}, result)
        return result

    def _recomputed(self, given: Tensor, scores: Tensor, weights: Tensor) -> RecomputedScores | None:
        """Return the program of the scores if it gives the weights [1, H, Q, T] again; None where none is known."""
        queries, keys = scores.shape[2:]
        program = self._watch.program(given, pairs=(queries, keys))
        if program is None or len(scores) > 1:
            return None
        function = RecomputedScores(program if given.ndim == 4 else Reshaped(program, tuple(scores.shape)))
        tolerance = max(_TOLERANCE, _ROUNDINGS * torch.finfo(scores.dtype).eps * _largest(scores, weights))
        for rows in row_blocks(queries, keys):
            again = torch.softmax(function.rows(rows), dim=-1)
            if not _equal(again, weights[:, :, rows], tolerance=tolerance):
                return None
        return function

    def _report(self, scores: Tensor, function: RecomputedScores | None, stream: Stream) -> None:
        batch, heads, queries, keys = scores.shape
        kv_heads = self.expected.kv_heads
        key_heads = heads if kv_heads is None or heads % kv_heads else kv_heads
        query = scores.new_zeros(batch, heads, queries, 0)
        key = scores.new_zeros(batch, key_heads, keys, 0)
        if function is None:
            report(AttentionCall(GivenScores(scores), query, key, key, DenseMask(scores), stream))
        else:
            report(AttentionCall(function, query, key, key, self._mask(scores), stream))

    def _mask(self, scores: Tensor) -> KeptMask | None:
        """Return the mask of the keys that queries see, shared by layers with equal masks; None where all see all."""
        allowed = scores > torch.finfo(scores.dtype).min / 2
        allowed = allowed[:, :1] if bool((allowed == allowed[:, :1]).all()) else allowed
        if bool(allowed.all()):
            return None
        for mask in self._masks:
            if same(mask.allowed, allowed):
                return mask
        self._masks.append(KeptMask(compact(allowed)))
        return self._masks[-1]

    def agree(self, handed_out: Sequence[Tensor]) -> None:
        """Raise ValueError unless the reported maps are the maps that the model hands out, in its order."""
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


def _largest(scores: Tensor, weights: Tensor) -> float:
    """Find the largest absolute score that gives a key any weight; a masked score may be a large number, too."""
    return float(scores.where(weights > 0, 0).abs().max())


def _equal(seen: Tensor, given: Tensor, *, tolerance: float = _TOLERANCE) -> bool:
    """Tell whether two maps are equal but for rounding; a softmax in float32 may be handed out in half precision."""
    return seen.shape == given.shape and float((seen.to(given.dtype) - given).abs().float().max()) <= tolerance
