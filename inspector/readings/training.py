"""Readings of the page Training: what the heads do at a moment and at the end, how loss and matrices changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Moment:
    """The heads of a stream at one step of the training and at the last: how many of `heads` have which label.

    The labels are those of `heads.label`, the most frequent first. entropies: the mean over the heads, in nats, at that
    step and at the last.
    """

    step: int
    last: int
    heads: int
    now: Mapping[str, int]
    end: Mapping[str, int]
    entropies: tuple[float, float]


@dataclass(frozen=True)
class Fall:
    """The first and the last valid loss with their steps, in nats per token, and e to the power of each."""

    first: tuple[int, float]
    last: tuple[int, float]

    @property
    def perplexities(self) -> tuple[float, float]:
        """The number of equally likely tokens among which one would be as unsure."""
        return _exp(self.first[1]), _exp(self.last[1])


@dataclass(frozen=True)
class Grown:
    """The matrix that grew most from the first to the last moment of a replay, and the one that grew least.

    Each by its name, with its size over the size at the start.
    """

    most: tuple[str, float]
    least: tuple[str, float]


def moment(measures: pd.DataFrame, *, step: int) -> Moment:
    """Count what the heads do at a step and at the end; measures: of `training.measures`."""
    last = int(measures["step"].max())
    now, end = (measures[measures["step"] == at] for at in (step, last))
    return Moment(
        step,
        last,
        heads=len(end),
        now=_counts(now),
        end=_counts(end),
        entropies=(float(now["entropy"].mean()), float(end["entropy"].mean())),
    )


def fall(rows: pd.DataFrame) -> Fall | None:
    """Read the valid loss off the metrics, `training.curves`; None where it was never measured."""
    valid = rows.dropna(subset=["valid_loss"])
    if valid.empty:
        return None
    first, last = ((int(row["step"]), float(row["valid_loss"])) for _, row in valid.iloc[[0, -1]].iterrows())
    return Fall(first, last)


def grown(growth: Mapping[str, float]) -> Grown | None:
    """Find the largest and the smallest growth; growth: size at the end over size at the start, by matrix.

    A matrix that began as zeros has no growth and is left out; None where no other is there.
    """
    growth = {name: times for name, times in growth.items() if isfinite(times)}
    if not growth:
        return None
    most, least = max(growth, key=growth.__getitem__), min(growth, key=growth.__getitem__)
    return Grown((most, growth[most]), (least, growth[least]))


def _exp(loss: float) -> float:
    """Compute e^loss, infinite for the loss of a training that diverged."""
    try:
        return exp(loss)
    except OverflowError:
        return inf


def _counts(measures: pd.DataFrame) -> dict[str, int]:
    return {str(name): int(count) for name, count in measures["label"].value_counts().items()}
