"""The lab: a very small Transformer learns to copy, reverse or sort digits in seconds, and is then tested.

The model is an encoder that names every digit of the answer at its place, all at once. An encoder is the fastest shape,
because a step is one forward pass over n + 2 tokens. It also shows most about positions: a causal mask would reveal
them (Haviv et al. 2022), while an encoder without positions cannot know an order, whatever it learns. An encoder cannot
show how a decoder, which writes token by token, builds on its own errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from threading import Lock
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.attention import AttentionCall, watch
from models.training.experiments import DIGITS, END, START, TIMES, Experiment, LabRun, Side, Task
from models.training.replay import weights
from models.training.schedules import learning_rate
from models.transformer import Encoder

BATCH = 32  # texts in a step
EVERY = 10  # steps from one report to the next
TRIED = 256  # texts of a trial

_initialising = Lock()  # torch has one generator for all threads: two visitors must not draw first weights at once


# --- the task ----------------------------------------------------------------------------------------------------


def draw(task: Task, *, length: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw random digits and return them with the right answers, both [count, length]."""
    digits = torch.randint(DIGITS, (count, length), generator=generator)
    return digits, answers(task, digits)


def answers(task: Task, digits: Tensor) -> Tensor:
    """Solve the task: digits [B, n] -> [B, n] in the same order, from last to first, or from smallest to largest."""
    match task:
        case "copy":
            return digits
        case "reverse":
            return digits.flip(1)
        case "sort":
            return digits.sort(dim=1).values


# --- the model ---------------------------------------------------------------------------------------------------


class Reader(nn.Module):
    """An encoder with a linear layer that predicts the digit of the answer at each place."""

    def __init__(self, run: LabRun) -> None:
        super().__init__()
        self.encoder = Encoder(run.config)
        self.head = nn.Linear(run.config.width, DIGITS)

    def forward(self, digits: Tensor) -> Tensor:
        """Score all ten digits for each place of the answer: digits [B, n] -> [B, n, 10]."""
        ids = nn.functional.pad(nn.functional.pad(digits, (1, 0), value=START), (0, 1), value=END)  # [B, n + 2]
        scores: Tensor = self.head(self.encoder(ids)[:, 1:-1])
        return scores


def reader(run: LabRun) -> Reader:
    """Build a Reader with random weights, the same for the same seed; torch's global generator is left as it was.

    Raises ValueError where the switches do not fit each other.
    """
    with _initialising, torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.seed)
        return Reader(run)


# --- the training ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabReport:
    """Means over the steps since the last report. Every text is new, so the accuracy is that on unseen texts."""

    step: int
    loss: float  # nats per digit; not finite where the training diverged, which ends it
    token_accuracy: float  # share of digits that are right
    exact_accuracy: float  # share of texts without a mistake
    seconds: float  # spent in training so far, without the time between two reports


def train(network: Reader, run: LabRun) -> Iterator[LabReport]:
    """Train in place and yield a report every 10 steps and after the last step. To stop, ask for no further report.

    Adam (Kingma & Ba 2015), cross-entropy, a warm-up of a tenth of the steps, then a linear decay to 0. Gradients are
    not clipped, so that an unstable training is seen to be unstable.
    """
    generator = torch.Generator().manual_seed(run.seed)
    optimizer = torch.optim.Adam(network.parameters(), foreach=True)
    network.train()
    seen, seconds, sums = 0, 0.0, np.zeros(3)  # sums of loss, token accuracy and exact accuracy
    for step in range(1, run.steps + 1):
        began = perf_counter()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(
                step, highest=run.learning_rate, warmup=run.steps // 10, steps=run.steps, decay="linear"
            )
        digits, wanted = draw(run.task, length=run.length, count=BATCH, generator=generator)
        scores = network(digits)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten())
        right = scores.argmax(dim=-1) == wanted
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        value = float(loss.detach())
        sums += value, float(right.float().mean()), float(right.all(dim=1).float().mean())
        seen, seconds = seen + 1, seconds + perf_counter() - began
        diverged = not isfinite(value)
        if diverged or step % EVERY == 0 or step == run.steps:
            mean, token, exact = map(float, sums / seen)
            yield LabReport(step, value if diverged else mean, token, exact, seconds)
            seen, sums = 0, np.zeros(3)
        if diverged:
            return


@dataclass(frozen=True)
class Course:
    """A training up to its last report."""

    side: Side
    run: LabRun
    network: Reader
    curve: tuple[LabReport, ...] = ()

    @property
    def diverged(self) -> bool:
        """True once the loss is not finite."""
        return bool(self.curve) and not isfinite(self.curve[-1].loss)

    @property
    def done(self) -> bool:
        """True once the training is complete or has diverged."""
        return self.diverged or (bool(self.curve) and self.curve[-1].step == self.run.steps)


def train_both(experiment: Experiment) -> Iterator[Course]:
    """Train A and B in turns, seed after seed, and yield the course of a side after each of its reports."""
    for seed in range(experiment.seeds):
        sides: tuple[Side, ...] = ("A", "B")
        runs = {side: experiment.run(side, seed=seed) for side in sides}
        courses = {side: Course(side, run, reader(run)) for side, run in runs.items()}
        going = {side: train(course.network, course.run) for side, course in courses.items()}
        while going:
            for side in tuple(going):
                report = next(going[side], None)
                if report is None:
                    del going[side]
                    continue
                courses[side] = replace(courses[side], curve=(*courses[side].curve, report))
                yield courses[side]


# --- what was learned --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """A test on fresh texts of one length, the same for all runs of a task, with one text in full.

    attention: the weights [H, T, T] of the one text in each layer, T = n + 2 tokens.
    """

    times: int  # trained lengths
    token_accuracy: float
    exact_accuracy: float
    digits: tuple[int, ...]
    wanted: tuple[int, ...]
    answer: tuple[int, ...]
    attention: tuple[NDArray[np.float32], ...]


@dataclass(frozen=True)
class Result:
    """A training that has ended or was stopped, with its trials at one, two and four times the trained length."""

    side: Side
    run: LabRun
    curve: tuple[LabReport, ...]
    trials: tuple[Trial, ...]


def result(course: Course) -> Result:
    """Test the network of a course as it is now; a network that diverged is not tested."""
    trials = () if course.diverged else tuple(trial(course.network, course.run, times=times) for times in TIMES)
    return Result(course.side, course.run, course.curve, trials)


@torch.inference_mode()
def trial(network: Reader, run: LabRun, *, times: int) -> Trial:
    """Test the network on 256 texts of `times` the trained length, which do not depend on the run's seed."""
    generator = torch.Generator().manual_seed(10_000 + times)
    digits, wanted = draw(run.task, length=times * run.length, count=TRIED, generator=generator)
    network.eval()
    answer = network(digits).argmax(dim=-1)
    right = answer == wanted
    return Trial(
        times,
        token_accuracy=float(right.float().mean()),
        exact_accuracy=float(right.all(dim=1).float().mean()),
        digits=tuple(digits[0].tolist()),
        wanted=tuple(wanted[0].tolist()),
        answer=tuple(answer[0].tolist()),
        attention=attention(network, digits[:1]),
    )


@torch.inference_mode()
def attention(network: Reader, digits: Tensor) -> tuple[NDArray[np.float32], ...]:
    """Read one text [1, n] and return the attention weights [H, T, T] of every layer, T = n + 2."""
    calls: list[AttentionCall] = []
    with watch(calls.append):
        network(digits)
    return tuple(weights(call)[0].numpy() for call in calls)
