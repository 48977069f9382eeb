"""Attention of which the weights alone are known: they were computed elsewhere and given.

Shapes: H heads, Q query positions, T key positions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor

ONLY_GIVEN = "only weights were given; record the text in its model, with inspector.record, to see more"
"""The reason why anything else is not shown, and the way out."""


@dataclass(frozen=True, eq=False)
class GivenWeights:
    """Attention whose weights are kept as they were given: [1, H, Q, T]; no score, query, key or value is known.

    sinks: whether some row sums to less than 1.
    """

    weights: Tensor
    sinks: bool

    scale = None  # no score is known
    positional = True  # there is a weight for each key
    normalised = True

    def __repr__(self) -> str:
        return f"GivenWeights of {tuple(self.weights.shape[1:])}"

    def added(self, rows: slice, keys: int) -> None:
        """Return None: no score is known."""
        return

    def side(self, rows: slice) -> None:
        """Return None: all keys are tokens'."""
        return

    def of_sequence(self, row: int, real: slice) -> GivenWeights:
        """Return the weights between some tokens."""
        return replace(self, weights=self.weights[:, :, real, real].clone())

    def of_head(self, head: int) -> GivenWeights:
        """Return the weights of one head."""
        return replace(self, weights=self.weights[:, head : head + 1])

    def __call__(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, rows: slice
    ) -> tuple[Tensor, Tensor]:
        """Return an output of width 0 [1, H, rows, 0] (no value is known), and the weights of the rows."""
        weights = self.weights[:, :, rows]
        return weights.new_zeros(*weights.shape[:-1], 0), weights
