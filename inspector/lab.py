"""The lab's runs as tables: curves, layers, accuracy by length and by place; and answers under each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan
from typing import TYPE_CHECKING, Protocol, get_args

import pandas as pd

from models.training.tiny.experiments import ALPHABET, LabRun, Side

if TYPE_CHECKING:  # torch comes with the first training
    from models.training.lab import LabReport, LabResult

_BLOCK = 24  # digits in a line


class LabTraining(Protocol):
    """A training, whether it goes on (Course) or not (LabResult)."""

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


def curves(trained: Iterable[LabTraining]) -> pd.DataFrame:
    """A row per report: side, seed, step, loss (nats per symbol), token_accuracy, exact_accuracy, seconds, and the
    induction score of the best head (of the task repeats, else NaN).
    """
    return pd.DataFrame(
        [
            (
                *(training.side, training.run.seed, at.step, at.loss, at.token_accuracy, at.exact_accuracy, at.seconds),
                nan if at.induction is None else at.induction,
            )
            for training in trained
            for at in training.curve
        ],
        columns=["side", "seed", "step", "loss", "token_accuracy", "exact_accuracy", "seconds", "induction"],
    )


def layers(results: Iterable[LabResult]) -> pd.DataFrame:
    """A row per side, seed, measured step (0 before the first) and layer: gradient, size, mean, deviation, off.

    The columns are the fields of `models.training.tiny.depth.LayerState`; place counts the layers, an encoder's first.
    """
    return pd.DataFrame(
        [
            (
                *(result.side, result.run.seed, step, place, f"{state.stream} {state.layer}"),
                *(state.gradient, state.size, state.mean, state.deviation, state.off),
            )
            for result in results
            for step, states in ((0, result.start), *((at.step, at.layers) for at in result.curve))
            for place, state in enumerate(states)
        ],
        columns=["side", "seed", "step", "place", "layer", "gradient", "size", "mean", "deviation", "off"],
    )


def accuracies(results: Iterable[LabResult]) -> pd.DataFrame:
    """A row per side and tested length: times (trained lengths), digits, seeds, and over these the mean, smallest and
    largest share of digits that are right (token) and of texts without a mistake (exact). Diverged runs are left out.
    """
    rows = pd.DataFrame(
        [
            (result.side, trial.times, len(trial.digits), trial.token_accuracy, trial.exact_accuracy)
            for result in results
            for trial in result.trials
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


def places(results: Iterable[LabResult]) -> pd.DataFrame:
    """A row per side, seed, tested length and place of the answer: times, place (from 1), right (a share of the texts).

    Empty for tasks whose answers are not all of one length.
    """
    return pd.DataFrame(
        [
            (result.side, result.run.seed, trial.times, place, right)
            for result in results
            for trial in result.trials
            for place, right in enumerate(trial.places, start=1)
        ],
        columns=["side", "seed", "times", "place", "right"],
    )


def seeds(trained: Sequence[LabTraining]) -> int:
    """Count the seeds of each side; where a stop left the sides with different numbers, the smaller number."""
    sides = [training.side for training in trained]
    return min(sides.count(side) for side in set(sides))


def spelled(rows: dict[str, Sequence[int]], *, wanted: Sequence[int], asked: Sequence[bool] | None = None) -> str:
    """Symbols under symbols for a fixed-width font, in blocks that fit a phone; under A and B ^ where they are wrong.

    asked: the places that count, all where None; at others a dot stands in A and B.
    """
    wide = max(map(len, rows)) + 2
    counts = [True] * len(wanted) if asked is None else asked
    blocks = []
    for start in range(0, len(wanted), _BLOCK):
        part = slice(start, start + _BLOCK)
        lines = []
        for name, symbols in rows.items():
            answers = name in get_args(Side)
            places = list(zip(symbols[part], wanted[part], counts[part], strict=True))
            answer = "".join(ALPHABET[symbol] if count or not answers else "·" for symbol, _, count in places)
            lines.append(f"{name:{wide}}{answer}")
            if answers:
                lines.append(
                    " " * wide + "".join("^" if count and written != right else " " for written, right, count in places)
                )
        blocks.append("\n".join(line.rstrip() for line in lines if line.strip()))
    return "\n\n".join(blocks)
