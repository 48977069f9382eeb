"""Steps of a written text: what one chose and beside what, and the step at which the model was least sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.generating import WrittenText, WrittenToken
    from inspector.generating.writing import TokenCandidate

NEAR = 0.95  # two weights or probabilities are about equal where the smaller is this part of the larger, or more


@dataclass(frozen=True)
class StrongestKey:
    """The key that a step gave most weight to: its token, the weight, and whether another key comes near it.

    layer, head: whose attention it is, head None for the mean over the layer's heads; source: the key is in the source.
    """

    token: str
    weight: float
    tied: bool
    layer: int
    head: int | None
    source: bool


@dataclass(frozen=True)
class StepReading:
    """The choice of one step: the token and its probability, and the likeliest token beside it.

    rank: 1 where no token was likelier. drawn: by chance and not as the likeliest. ruled: a rule of the model's
    generation_config took the choice from the likeliest token. ends: the token ends the text.
    """

    step: int
    steps: int
    token: str
    probability: float
    other: str
    other_probability: float
    rank: int
    drawn: bool
    ruled: bool
    ends: bool
    look: StrongestKey | None = None

    @property
    def close(self) -> bool:
        """True where the two probabilities are about equal."""
        return _near(self.probability, self.other_probability)


def least_sure(made: WrittenText) -> int:
    """Return the step, from 1, whose likeliest token has the smallest probability; the first of several."""
    sureness = [step.candidates[0].probability for step in made.steps]
    return 1 + sureness.index(min(sureness))


def step(made: WrittenText, number: int, *, look: StrongestKey | None = None) -> StepReading:
    """Read one step, from 1; look: of `most`, for the attention that is shown.

    Raises ValueError for a step that is not there.
    """
    if not 1 <= number <= len(made.steps):
        raise ValueError(f"step {number} of a text with the steps 1 to {len(made.steps)}")
    seen = made.steps[number - 1]
    other = _other(seen)
    return StepReading(
        step=number,
        steps=len(made.steps),
        token=seen.chosen.token,
        probability=seen.chosen.probability,
        other=other.token,
        other_probability=other.probability,
        rank=seen.rank,
        drawn=seen.chosen.drawn is not None,
        ruled=seen.ruled,
        ends=made.ended and number == len(made.steps),
        look=look,
    )


def most(
    weights: NDArray[np.floating[Any]], keys: tuple[str, ...], *, layer: int, head: int | None, source: bool
) -> StrongestKey | None:
    """Find the key of the largest weight; weights [T] of one query. None where there is no weight, or one key alone."""
    order = np.argsort(-weights[: len(keys)], kind="stable")
    if len(order) < 2 or not weights[order[0]] > 0:
        return None
    first, second = (float(weights[place]) for place in order[:2])
    return StrongestKey(keys[order[0]], first, tied=_near(first, second), layer=layer, head=head, source=source)


def beside_the_count(measured: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Put the figures of `counted_by_step` beside the figures of `WrittenText.table`: what, counted, measured,
    seconds."""
    last = len(table) - 1
    places = [
        ("first step, FLOPs (the prefill)", "flops_cached", "seconds_cached", 0),
        ("last step with the cache, FLOPs", "flops_cached", "seconds_cached", last),
        ("last step without, FLOPs", "flops_uncached", "seconds_uncached", last),
        ("all steps with the cache, FLOPs", "total_cached", "seconds_cached", None),
        ("all steps without, FLOPs", "total_uncached", "seconds_uncached", None),
        ("cache after the last step, bytes", "cache_bytes", "", last),
    ]
    rows = []
    for what, amount, time, at in places:
        row = last if at is None else at
        seconds = None if not time else table[time].sum() if at is None else table[time].iloc[row]
        rows.append((what, int(measured[amount].iloc[row]), table[amount].iloc[row], seconds))
    frame = pd.DataFrame(rows, columns=["what", "counted", "measured", "seconds"])
    return frame.astype({"measured": "Int64", "seconds": float})


def _near(a: float, b: float) -> bool:
    return min(a, b) >= NEAR * max(a, b)


def _other(seen: WrittenToken) -> TokenCandidate:
    """Return the likeliest token beside the chosen one."""
    return next(candidate for candidate in seen.candidates if candidate.id != seen.chosen.id)
