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

    from inspector.lab import Trained
    from models.training.lab import Result, Trial
    from models.training.tiny.depth import LayerState


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

    sides: those that could be tested; reached: the fewest and the most steps of one of their trainings, of `steps`;
    values: what each side has where the two differ, by the switch's name; task: what was learned.
    """

    sides: dict[Side, Tested]
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
class Places:
    """The places of one side's answer, counted from 1, with the share of texts that are right there: means over seeds.

    worst: the first of those with the smallest share.
    """

    of: int
    first: float
    worst: tuple[int, float]


@dataclass(frozen=True)
class Ended:
    """The last report of one training: its side and seed, the step and the loss (nats per digit)."""

    side: Side
    seed: int
    step: int
    loss: float


@dataclass(frozen=True)
class Unfinished:
    """The trainings that a stop kept from their `steps`: where each `stopped` is, and how many of all did not begin."""

    stopped: tuple[Ended, ...]
    steps: int
    missing: int
    trainings: int


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
                induction=_induction(first),
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
        task=experiment.task,
    )


def depth(results: Iterable[Result]) -> dict[Side, Depth]:
    """Compare the layers before training with those at the end, by side, where they were measured."""
    found: dict[Side, Depth] = {}
    for side in get_args(Side):
        pairs = []
        for one in results:
            measured = [at for at in one.curve if at.layers]
            if one.side == side and one.start and measured:
                pairs.append((measured[-1].step, one.start, measured[-1].layers))
        if not pairs:
            continue
        steps, before, after = zip(*pairs, strict=True)
        found[side] = Depth(
            step=max(steps),
            first_gradient=(median(map(_ratio, before)), median(map(_ratio, after))) if len(before[0]) > 1 else None,
            deviation=(median(one[-1].deviation for one in before), median(one[-1].deviation for one in after)),
            off=median(fmean(layer.off for layer in one) for one in after),
        )
    return found


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
    return sum(one == 0 for one in away), sum(one <= 1 for one in away), steps


def places(table: pd.DataFrame) -> dict[Side, Places]:
    """Find the first and the worst place of each side in a table of `inspector.lab.places` of one tested length."""
    found: dict[Side, Places] = {}
    for side in get_args(Side):
        means = table[table["side"] == side].groupby("place")["right"].mean()
        if len(means):
            found[side] = Places(of=len(means), first=means[1], worst=(int(means.idxmin()), float(means.min())))
    return found


def _ratio(layers: Sequence[LayerState]) -> float:
    """The gradient in the first layer over that in the last; infinite where the last has none."""
    return layers[0].gradient / layers[-1].gradient if layers[-1].gradient else inf


def diverged(trained: Iterable[Trained]) -> tuple[Ended, ...]:
    """Find the trainings whose loss is no finite number any more."""
    return tuple(end for end in map(_ended, trained) if end is not None and not isfinite(end.loss))


def unfinished(experiment: Experiment, results: Sequence[Result]) -> Unfinished | None:
    """Find what a stop left short or not begun; None where every training reached its end or diverged."""
    ends = [end for end in map(_ended, results) if end is not None]
    stopped = tuple(end for end in ends if end.step < experiment.steps and isfinite(end.loss))
    trainings = 2 * experiment.seeds
    missing = trainings - len(results)
    if not stopped and not missing:
        return None
    return Unfinished(stopped=stopped, steps=experiment.steps, missing=missing, trainings=trainings)


def _induction(trials: Sequence[Trial]) -> float | None:
    """The mean of the best heads' induction scores; None in a task without one."""
    scores = [float(trial.induction.max()) for trial in trials if trial.induction is not None]
    return fmean(scores) if scores else None


def _ended(trained: Trained) -> Ended | None:
    """The last report of a training; None before the first."""
    if not trained.curve:
        return None
    last = trained.curve[-1]
    return Ended(side=trained.side, seed=trained.run.seed, step=last.step, loss=last.loss)
