"""The Lab's networks, trained for a question: a small one at once, both sides of an experiment in the long run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from inspector.questions.record.both import Both
from inspector.questions.record.picture import Lines, Series
from inspector.questions.record.question import Measurement, Run, Watch
from inspector.questions.record.subject import Subject
from models.training import lab
from models.training.tiny.experiments import Experiment, LabRun, Switches
from models.training.tiny.solvers import solver

Courses = Mapping[tuple[str, int], lab.Course]
"""Trainings by side, "A" or "B", and seed."""

GUESSING = math.log(10)  # nats, of ten digits that are all alike to a network that has learned nothing
LOSS = Both("loss, nats a digit", "损失，nat/数字")
RIGHT = Both("texts without a mistake", "全对率")
_STEP = Both("step", "训练步数")
REVERSED = LabRun(task="reverse", length=4, steps=120, learning_rate=0.005, switches=Switches(), seed=0)
"""The training of `loss_of`: 4 digits are turned around."""


def loss_of(subject: Subject, switches: Switches) -> list[float]:
    """Train the Lab's Transformer for 120 steps on turning 4 digits around -> its loss in nats a digit, every 10 steps.

    Trained once for all texts and models, from seed 0.
    """
    run = replace(REVERSED, switches=switches)
    loss: list[float] = subject.cached(("lab loss", switches), partial(curve_of, run))
    return loss


def curve_of(run: LabRun) -> list[float]:
    """Train a network of the Lab -> its loss in nats a digit, every 10 steps."""
    return [report.loss for report in lab.train(solver(run), run)]


def losses(lines: Sequence[tuple[Both, list[float]]], *, parts: Sequence[str] = ()) -> Lines:
    """Draw the losses of `loss_of`; every second line is dashed. parts: the colour of each line."""
    return Lines(
        [
            Series(
                name,
                [10.0 * step for step in range(1, len(loss) + 1)],
                loss,
                part=parts[number] if parts else "attention",
                dashed=number % 2 == 1,
            )
            for number, (name, loss) in enumerate(lines)
        ],
        x_title=_STEP,
        y_title=LOSS,
        mark_y=GUESSING,
    )


def train_both(experiment: Experiment, watch: Watch) -> Courses:
    """Train both sides of an experiment from all of its seeds; what `watch` raises ends it."""
    courses: dict[tuple[str, int], lab.Course] = {}
    total = 2 * experiment.seeds * experiment.steps
    watch(0, total)
    for course in lab.train_both(experiment):
        courses[course.side, course.run.seed] = course
        watch(sum(trained.curve[-1].step for trained in courses.values()), total)
    return courses


def ends(courses: Courses, of: Callable[[lab.Course], float]) -> tuple[list[float], list[float]]:
    """Give a number of every training, in the order of the seeds: side A's numbers, and side B's."""
    first, second = (
        [of(course) for (trained_side, _), course in courses.items() if trained_side == side] for side in ("A", "B")
    )
    return first, second


def last_loss(course: lab.Course) -> float:
    """Return the loss of a training's last report, in nats."""
    return course.curve[-1].loss


def last_right(course: lab.Course) -> float:
    """Return the share of texts without a mistake in a training's last report."""
    return course.curve[-1].exact_accuracy


def courses_drawn(
    courses: Courses,
    names: tuple[Both, Both],
    *,
    of: Callable[[lab.LabReport], float] = lambda report: report.loss,
    y_title: Both = LOSS,
    log_y: bool = False,
) -> Lines:
    """Draw a number of every report, a line for each side and seed; names: of side A and of side B, which is dashed."""
    several = len({seed for _, seed in courses}) > 1
    sides = dict(zip("AB", names, strict=True))
    return Lines(
        [
            Series(
                Both(f"{sides[side].en}, seed {seed}", f"{sides[side].zh}，种子 {seed}") if several else sides[side],
                [report.step for report in course.curve],
                [of(report) for report in course.curve],
                dashed=side == "B",
            )
            for (side, seed), course in courses.items()
        ],
        x_title=_STEP,
        y_title=y_title,
        log_y=log_y,
    )


# --- the same trainings from several seeds -------------------------------------------------------------------------

SEEDS = 6


@dataclass(frozen=True)
class Pair:
    """Two trainings of one run that differ in their switches, of which people say that the second ends higher.

    name: of the numbers, the loss of the second less that of the first, NAME_least and NAME_most of the seeds. of: what
    is compared, in the figure.
    """

    name: str
    lower: Switches
    higher: Switches
    of: Both


def from_seeds(*pairs: Pair, run: LabRun = REVERSED) -> Run:
    """Repeat a question's small trainings from SEEDS seeds: a part holds where every seed bears it out."""
    return partial(_repeat, pairs, run)


def _repeat(pairs: tuple[Pair, ...], run: LabRun, subject: Subject | None, watch: Watch) -> Measurement:
    """Train both sides of every pair from every seed; what `watch` raises ends it."""
    total = 2 * len(pairs) * SEEDS
    watch(0, total)
    ends: dict[tuple[Switches, int], float] = {}
    apart: dict[str, list[float]] = {}
    for at, pair in enumerate(pairs):
        for seed in range(SEEDS):
            for switches in (pair.lower, pair.higher):
                if (switches, seed) not in ends:
                    ends[switches, seed] = curve_of(replace(run, switches=switches, seed=seed))[-1]
            apart.setdefault(pair.name, []).append(ends[pair.higher, seed] - ends[pair.lower, seed])
            watch(2 * (at * SEEDS + seed + 1), total)
    numbers = {f"{name}_{end}": of(each) for name, each in apart.items() for end, of in (("least", min), ("most", max))}
    picture = Lines(
        [
            Series(pair.of, list(range(SEEDS)), apart[pair.name], points=True, part=part)
            for pair, part in zip(pairs, ("attention", "ffn", "norm", "positions", "residual"), strict=False)
        ],
        x_title=Both("seed", "种子"),
        y_title=Both("difference of the loss, nats a digit", "损失之差，nat/数字"),
        mark_y=0.0,
    )
    return Measurement(numbers, picture)


def joined(first: Run, second: Run) -> Run:
    """Run two long experiments one after the other, as one; the figure is the first's."""

    def run(subject: Subject, watch: Watch) -> Measurement:
        before, after = first(subject, watch), second(subject, watch)
        return Measurement({**before.numbers, **after.numbers}, before.picture)

    return run
