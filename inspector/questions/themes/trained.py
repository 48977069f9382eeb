"""The Lab's networks, trained for a question: a small one at once, both sides of an experiment in the long run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from inspector.questions.record.both import Both
from inspector.questions.record.picture import Lines, Series
from inspector.questions.record.question import Watch
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


def loss_of(subject: Subject, switches: Switches) -> list[float]:
    """Train the Lab's Transformer for 120 steps on turning 4 digits around -> its loss in nats a digit, every 10 steps.

    Trained once for all texts and models, from seed 0.
    """

    def train() -> list[float]:
        run = LabRun(task="reverse", length=4, steps=120, learning_rate=0.005, switches=switches, seed=0)
        return [report.loss for report in lab.train(solver(run), run)]

    loss: list[float] = subject.cached(("lab loss", switches), train)
    return loss


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
