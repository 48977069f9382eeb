"""Attention of models that bypass transformers' registry: the softmax of their own eager attention is watched.

While such a model is recorded, every softmax over scores [B, H, Q, T] is reported as an attention call, in the order in
which they happen; afterwards the reported weights must equal, map by map, what the model hands out under
output_attentions. The scores are kept as they are, so such a recording grows with the square of the text.
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
        return weights @ value, weights


class WatchedSoftmax(TorchFunctionMode):
    """Inside the block (and on its thread alone) every softmax over [B, H, Q, T] is reported as an attention call.

    stream: of the call with that number, counted from 0.
    """

    def __init__(self, stream: Callable[[int], Stream]) -> None:
        super().__init__()
        self.stream = stream
        self.weights: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func in _SOFTMAX and result.ndim == 4:
            scores = args[0]
            stream = self.stream(len(self.weights))
            self.weights.append(result)
            heads, queries, keys = scores.shape[1:]
            nothing = scores.new_zeros(len(scores), heads, max(queries, keys), 0)
            report(
                AttentionCall(
                    GivenScores(scores.detach().clone()),
                    nothing[:, :, :queries],
                    nothing[:, :, :keys],
                    nothing[:, :, :keys],
                    None,
                    stream,
                )
            )
        return result

    def agree(self, handed_out: Sequence[Tensor]) -> None:
        """Raise ValueError unless what was reported is what the model hands out, in its order."""
        if len(handed_out) != len(self.weights):
            raise ValueError(
                f"{len(self.weights)} softmaxes over [B, H, Q, T] were seen, and {len(handed_out)} maps handed out"
            )
        for number, (seen, given) in enumerate(zip(self.weights, handed_out, strict=True)):
            if seen.shape != given.shape or float((seen.float() - given.float()).abs().max()) > _TOLERANCE:
                raise ValueError(f"map {number} that the model hands out is not the softmax that was seen")
