"""The lab's runs as tables: curves, accuracy by length, and answers under each other, digit for digit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, get_args

import pandas as pd

from models.training.experiments import LabRun, Side

if TYPE_CHECKING:  # torch comes with the first training
    from models.training.lab import LabReport, Result

_BLOCK = 24  # digits in a line


class Trained(Protocol):
    """A training, whether it goes on (Course) or not (Result)."""

    @property
    def side(self) -> Side:
        """A or B."""
        ...

    @property
    def run(self) -> LabRun:
        """The training's settings."""
        ...

    @property
    def curve(self) -> tuple[LabReport, ...]:
        """The training's reports so far."""
        ...


def curves(trained: Iterable[Trained]) -> pd.DataFrame:
    """A row per report: side, seed, step, loss (nats per digit), token_accuracy, exact_accuracy, seconds."""
    return pd.DataFrame(
        [
            (one.side, one.run.seed, at.step, at.loss, at.token_accuracy, at.exact_accuracy, at.seconds)
            for one in trained
            for at in one.curve
        ],
        columns=["side", "seed", "step", "loss", "token_accuracy", "exact_accuracy", "seconds"],
    )


def accuracies(results: Iterable[Result]) -> pd.DataFrame:
    """A row per side and tested length: times (trained lengths), digits, seeds, and over these the mean, smallest and
    largest share of digits that are right (token) and of texts without a mistake (exact). Diverged runs are left out.
    """
    rows = pd.DataFrame(
        [
            (one.side, trial.times, len(trial.digits), trial.token_accuracy, trial.exact_accuracy)
            for one in results
            for trial in one.trials
        ],
        columns=["side", "times", "digits", "token", "exact"],
    )
    groups = rows.groupby(["side", "times", "digits"], sort=True)
    return groups.agg(
        seeds=("token", "size"),
        token=("token", "mean"),
        token_smallest=("token", "min"),
        token_largest=("token", "max"),
        exact=("exact", "mean"),
        exact_smallest=("exact", "min"),
        exact_largest=("exact", "max"),
    ).reset_index()


def seeds(trained: Sequence[Trained]) -> int:
    """Count the seeds of each side; where a stop left the sides with different numbers, the smaller number."""
    sides = [one.side for one in trained]
    return min(sides.count(side) for side in set(sides))


def spelled(rows: dict[str, Sequence[int]], *, wanted: Sequence[int]) -> str:
    """Digits under digits for a fixed-width font, in blocks that fit a phone; under A and B ^ where they are wrong."""
    wide = max(map(len, rows)) + 2
    blocks = []
    for start in range(0, len(wanted), _BLOCK):
        part = slice(start, start + _BLOCK)
        lines = []
        for name, digits in rows.items():
            lines.append(f"{name:{wide}}{''.join(map(str, digits[part]))}")
            if name in get_args(Side):
                pairs = zip(digits[part], wanted[part], strict=True)
                lines.append(" " * wide + "".join(" " if said == right else "^" for said, right in pairs))
        blocks.append("\n".join(line.rstrip() for line in lines if line.strip()))
    return "\n\n".join(blocks)
