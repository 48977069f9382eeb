"""Results of the lab: how far A and B are while they learn, and what they can when they are done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import fmean, median
from typing import TYPE_CHECKING, get_args

from models.training.tiny.experiments import Experiment, Side, Task

if TYPE_CHECKING:
    import pandas as pd

    from inspector.lab import LabTraining
    from models.training.lab import LabResult, Trial
    from models.training.tiny.depth import LayerState


@dataclass(frozen=True)
class SeedProgress:
    """The seed that is trained now, its step of `steps`, and the share of texts without a mistake, by side.

    The share is of the texts of the last report; a side without a report yet is missing.
    """

    seed: int
    step: int
    steps: int
    right: dict[Side, float]


@dataclass(frozen=True)
class SideTests:
    """The tests of one side, means over its `seeds`: share of texts right, and of digits, at the trained length.

    longer: share of texts right by multiple of the trained length. induction: of the task repeats, the induction score
    of each seed's best head.
    """

    seeds: int

    texts: float
    digits: float
    longer: dict[int, float]
    induction: float | None = None


@dataclass(frozen=True)
class Verdict:
    """The tests of A and B after their training, on `tried` texts of each length.

    sides: the sides that could be tested; reached: the fewest and the most steps of one of their trainings, of `steps`;
    values: what each side has where the two differ, by the switch's name; task: what was learned.
    """

    sides: dict[Side, SideTests]
    reached: tuple[int, int]
    steps: int
    tried: int
    values: dict[str, tuple[object, object]]
    task: Task = "reverse"


@dataclass(frozen=True)
class Depth:
    """The layers of one side before training and at its last measurement, medians over seeds.

    first_gradient: how many times as long the gradient is in the first layer as in the last, (before, at the end); None
    of one layer. deviation: of the last layer's inner units, (before, at the end); off: share of all inner units that
    are off for every token at the end.
    """

    step: int
    first_gradient: tuple[float, float] | None
    deviation: tuple[float, float]
    off: float


@dataclass(frozen=True)
class AnswerPlaces:
    """The places of one side's answer, counted from 1, with the share of texts that are right there: means over seeds.

    worst: the place with the smallest share, the first of equals.
    """

    of: int
    first: float
    worst: tuple[int, float]


@dataclass(frozen=True)
class LastReport:
    """The last report of one training: its side and seed, the step and the loss (nats per digit)."""

    side: Side
    seed: int
    step: int
    loss: float


@dataclass(frozen=True)
class UnfinishedTrainings:
    """The trainings that a stop kept from their `steps`: where each `stopped` is, and how many of all did not begin."""

    stopped: tuple[LastReport, ...]
    steps: int
    missing: int
    trainings: int


def progress(trained: Iterable[LabTraining]) -> SeedProgress | None:
    """Tell how far the last seed is; None before the first report."""
    reported = [training for training in trained if training.curve]
    if not reported:
        return None
    seed = max(training.run.seed for training in reported)
    now = [training for training in reported if training.run.seed == seed]
    return SeedProgress(
        seed=seed,
        step=max(training.curve[-1].step for training in now),
        steps=now[0].run.steps,
        right={training.side: training.curve[-1].exact_accuracy for training in now},
    )


def verdict(experiment: Experiment, results: Sequence[LabResult]) -> Verdict | None:
    """Sum the tests up; None where neither side could be tested."""
    from models.training.lab import TRIED  # with torch, which the training has loaded

    sides = {}
    for side in get_args(Side):
        tests = [result.trials for result in results if result.side == side and result.trials]
        if tests:
            first = [trials[0] for trials in tests]
            sides[side] = SideTests(
                seeds=len(tests),
                texts=fmean(trial.exact_accuracy for trial in first),
                digits=fmean(trial.token_accuracy for trial in first),
                longer={
                    trials[0].times: fmean(trial.exact_accuracy for trial in trials)
                    for trials in list(zip(*tests, strict=True))[1:]
                },
                induction=_induction(first),
            )
    if not sides:
        return None
    reached = [result.curve[-1].step for result in results if result.trials]
    return Verdict(
        sides=sides,
        reached=(min(reached), max(reached)),
        steps=experiment.steps,
        tried=TRIED,
        values=experiment.differences,
        task=experiment.task,
    )


def depth(results: Iterable[LabResult]) -> dict[Side, Depth]:
    """Compare the layers before training with those at the end, by side, where they were measured."""
    depths: dict[Side, Depth] = {}
    for side in get_args(Side):
        pairs = []
        for result in results:
            measured = [at for at in result.curve if at.layers]
            if result.side == side and result.start and measured:
                pairs.append((measured[-1].step, result.start, measured[-1].layers))
        if not pairs:
            continue
        steps, before, after = zip(*pairs, strict=True)
        depths[side] = Depth(
            step=max(steps),
            first_gradient=(median(map(_ratio, before)), median(map(_ratio, after))) if len(before[0]) > 1 else None,
            deviation=(
                median(layers[-1].deviation for layers in before),
                median(layers[-1].deviation for layers in after),
            ),
            off=median(fmean(layer.off for layer in layers) for layers in after),
        )
    return depths


def writes(experiment: Experiment) -> bool:
    """Tell whether a side is tested on an answer that it writes token by token; repeats goes on from the true text."""
    sides: tuple[Side, ...] = get_args(Side)
    return experiment.task != "repeats" and any(experiment.run(side, seed=0).shape != "encoder" for side in sides)


def aligned(trial: Trial, task: Task) -> tuple[int, int, int] | None:
    """Count the steps of an RNN whose largest weight lies on the digit to be written, those on or beside it, and all.

    None where the digit's place in the text is not known: in sort equal digits stand in many places.
    """
    if task not in ("copy", "reverse"):
        return None
    steps = len(trial.wanted)
    wanted = range(1, steps + 1) if task == "copy" else range(steps, 0, -1)  # a mark stands before the text
    away = [abs(int(row.argmax()) - place) for row, place in zip(trial.attention["cross"][0][0], wanted, strict=True)]
    return sum(step == 0 for step in away), sum(step <= 1 for step in away), steps


def places(table: pd.DataFrame) -> dict[Side, AnswerPlaces]:
    """Find the first and the worst place of each side in a table of `inspector.lab.places` of one tested length."""
    by_side: dict[Side, AnswerPlaces] = {}
    for side in get_args(Side):
        means = table[table["side"] == side].groupby("place")["right"].mean()
        if len(means):
            by_side[side] = AnswerPlaces(of=len(means), first=means[1], worst=(int(means.idxmin()), float(means.min())))
    return by_side


def _ratio(layers: Sequence[LayerState]) -> float:
    """The gradient in the first layer over that in the last; infinite where the last has none."""
    return layers[0].gradient / layers[-1].gradient if layers[-1].gradient else inf


def diverged(trained: Iterable[LabTraining]) -> tuple[LastReport, ...]:
    """Find the trainings whose loss is no finite number any more."""
    return tuple(end for end in map(_ended, trained) if end is not None and not isfinite(end.loss))


def unfinished(experiment: Experiment, results: Sequence[LabResult]) -> UnfinishedTrainings | None:
    """Find what a stop left short or not begun; None where every training reached its end or diverged."""
    ends = [end for end in map(_ended, results) if end is not None]
    stopped = tuple(end for end in ends if end.step < experiment.steps and isfinite(end.loss))
    trainings = 2 * experiment.seeds
    missing = trainings - len(results)
    if not stopped and not missing:
        return None
    return UnfinishedTrainings(stopped=stopped, steps=experiment.steps, missing=missing, trainings=trainings)


def _induction(trials: Sequence[Trial]) -> float | None:
    """The mean of the best heads' induction scores; None in a task without one."""
    scores = [float(trial.induction.max()) for trial in trials if trial.induction is not None]
    return fmean(scores) if scores else None


def _ended(trained: LabTraining) -> LastReport | None:
    """The last report of a training; None before the first."""
    if not trained.curve:
        return None
    last = trained.curve[-1]
    return LastReport(side=trained.side, seed=trained.run.seed, step=last.step, loss=last.loss)
