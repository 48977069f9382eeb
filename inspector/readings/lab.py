"""Readings of the page Lab: how far A and B are while they learn, and what they can when they are done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, get_args

from models.training.experiments import Experiment, Side

if TYPE_CHECKING:
    from inspector.lab import Trained
    from models.training.lab import Result


@dataclass(frozen=True)
class Progress:
    """The seed that is trained now, its step of `steps`, and the share of texts without a mistake, by side.

    The share is of the texts of the last report; a side without a report yet is missing.
    """

    seed: int
    step: int
    steps: int
    right: dict[Side, float]


@dataclass(frozen=True)
class Tested:
    """The tests of one side, means over its `seeds`: share of texts right, and of digits, at the trained length.

    longer: share of texts right by multiple of the trained length.
    """

    seeds: int

    texts: float
    digits: float
    longer: dict[int, float]


@dataclass(frozen=True)
class Verdict:
    """The tests of A and B after their training, on `tried` texts of each length.

    sides: those that could be tested; reached: the fewest and the most steps of one of their trainings, of `steps`;
    values: what each side has where the two differ, by the switch's name.
    """

    sides: dict[Side, Tested]
    reached: tuple[int, int]
    steps: int
    tried: int
    values: dict[str, tuple[object, object]]


def progress(trained: Iterable[Trained]) -> Progress | None:
    """Tell how far the last seed is; None before the first report."""
    reported = [one for one in trained if one.curve]
    if not reported:
        return None
    seed = max(one.run.seed for one in reported)
    now = [one for one in reported if one.run.seed == seed]
    return Progress(
        seed=seed,
        step=max(one.curve[-1].step for one in now),
        steps=now[0].run.steps,
        right={one.side: one.curve[-1].exact_accuracy for one in now},
    )


def verdict(experiment: Experiment, results: Sequence[Result]) -> Verdict | None:
    """Sum the tests up; None where neither side could be tested."""
    from models.training.lab import TRIED  # with torch, which the training has loaded

    sides = {}
    for side in get_args(Side):
        tests = [one.trials for one in results if one.side == side and one.trials]
        if tests:
            first = [trials[0] for trials in tests]
            sides[side] = Tested(
                seeds=len(tests),
                texts=fmean(trial.exact_accuracy for trial in first),
                digits=fmean(trial.token_accuracy for trial in first),
                longer={
                    trials[0].times: fmean(trial.exact_accuracy for trial in trials)
                    for trials in list(zip(*tests, strict=True))[1:]
                },
            )
    if not sides:
        return None
    reached = [one.curve[-1].step for one in results if one.trials]
    return Verdict(
        sides=sides,
        reached=(min(reached), max(reached)),
        steps=experiment.steps,
        tried=TRIED,
        values=experiment.differences,
    )
