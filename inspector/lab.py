"""The lab's runs as tables and sentences: curves, accuracy by length, what the two sides differ in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Protocol, get_args

import pandas as pd

from models.training.experiments import TIMES, Experiment, LabRun, Side

if TYPE_CHECKING:  # torch comes with the first training
    from models.training.lab import LabReport, Result

_BLOCK = 24  # digits in a line

NAMES = {
    "positions": "positions",
    "score": "score",
    "scale": "scale",
    "norm_placement": "norm placement",
    "layers": "layers",
    "heads": "heads",
    "shared_query_key": "tied Q and K",
    "residual": "residual",
}
"""What a switch is called in a sentence."""


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
        """Its reports so far."""
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


def differences(experiment: Experiment) -> str:
    """Name the difference of the two sides in one line: "B differs from A: positions none instead of sinusoidal."."""
    parts = [f"{NAMES[name]} {_shown(b)} instead of {_shown(a)}" for name, (a, b) in experiment.differences.items()]
    if not parts:
        return "B does not differ from A: the two curves will be the same, number for number."
    return f"B differs from A: {', '.join(parts)}."


def seeds(trained: Sequence[Trained]) -> int:
    """Count the seeds of each side; where a stop left the sides with different numbers, the smaller number."""
    sides = [one.side for one in trained]
    return min(sides.count(side) for side in set(sides))


def behind(seeds: int) -> str:
    """Say how many seeds are behind a curve, and which conclusions they allow."""
    if seeds == 1:
        return "One seed: a difference here may be chance. Nothing follows from one run; take more seeds to see."
    return f"{seeds} seeds: thin lines are single seeds, the thick one is their mean. {seeds} are few; mind the range."


def findings(trained: Iterable[Trained]) -> list[str]:
    """A sentence for each training whose loss is no number any more."""
    return [
        f"{one.side}, seed {one.run.seed}: the loss became {one.curve[-1].loss} at step {one.curve[-1].step}. "
        "The training diverged and ended there; such a network is not tested."
        for one in trained
        if one.curve and not isfinite(one.curve[-1].loss)
    ]


def unfinished(experiment: Experiment, results: Sequence[Result]) -> list[str]:
    """A sentence where a training was stopped, or not begun: its tests are of what was learned by then."""
    parts = [
        f"{one.side}, seed {one.run.seed}, after step {one.curve[-1].step}"
        for one in results
        if one.curve[-1].step < one.run.steps and isfinite(one.curve[-1].loss)
    ]
    missing = 2 * experiment.seeds - len(results)
    if not parts and not missing:
        return []
    said = f"Stopped before the end of {experiment.steps} steps"
    said += f": {'; '.join(parts)}." if parts else "."
    return [said + (f" {missing} of {2 * experiment.seeds} trainings were not begun." if missing else "")]


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


def beyond(run: LabRun) -> str:
    """Say what the switches mean for texts longer than those of the training."""
    longest = max(TIMES) * run.length
    return {
        "learned": f"Rows of the position table beyond {run.length} digits were never trained: they are as random as "
        "at the start.",
        "sinusoidal": f"The table goes on beyond {run.length} digits, but these positions were never met in training.",
        "none": "There are no positions, so no length is new in itself.",
        "rope": "Each angle between neighbours is known; larger distances were never met in training.",
        "alibi": "The farther the fainter: the rule goes on by itself at any distance.",
        "t5": "Distances share buckets, farther ones with farther ones; some buckets were never trained.",
        "shaw": f"Distances are clipped at {run.length + 1}: beyond it, near and far look the same.",
    }[run.switches.positions] + f" It can read up to {longest} digits here."


def _shown(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
