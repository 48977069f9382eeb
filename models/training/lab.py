"""The lab: a very small network learns a task in seconds, and is then tested.

Copy, reverse and sort are learned by the shape that the run asks for. An encoder names every digit of the answer at its
place, all at once. It is the fastest shape, because a step is one forward pass over n + 2 tokens, and it shows most
about positions: a causal mask would reveal them (Haviv et al. 2022), while an encoder without positions cannot know an
order, whatever it learns. A decoder reads the digits and then writes the answer, token by token; an encoder-decoder
reads with one stack and writes with the other. These two are trained on the right answer (teacher forcing) and tested
on what they write, so that one mistake can bring the next.

An RNN, with attention or without, reads and writes as an encoder-decoder does: models/recurrent.

Repeats is learned by a decoder, which names the next symbol of a text; the induction score shows a head being born.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import isfinite
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.attention import AttentionCall, Stream, watch
from models.training.replay import weights
from models.training.schedules import learning_rate
from models.training.tiny import depth
from models.training.tiny.depth import LayerState
from models.training.tiny.experiments import BATCH, TIMES, Experiment, LabRun, Side
from models.training.tiny.puzzles import PuzzleTexts, draw
from models.training.tiny.solvers import RecurrentSolver, Solver, labels, layers, seeded, solver
from models.transformer.segment_memory import joined

EVERY = 10  # steps from one report to the next
MEASURED = 20  # times in a training that its layers are measured
TRIED = 256  # texts of a trial
SCORED = 32  # texts of an induction score
ORDERED = ("copy", "reverse", "sort")  # tasks whose answer is written place by place
_FRESH = 10_000  # seeds of texts that no training draws


# --- the training ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabReport:
    """Means over the steps since the last report. Every text is new, so the accuracy is that on unseen texts, of
    seen words.

    layers: each layer as it is now, in about 20 reports of a training; induction, head: of repeats, the best head's
    induction score as it is now, and its layer and number.
    """

    step: int
    loss: float  # nats per digit; not finite where the training diverged, which ends it
    token_accuracy: float  # share of digits that are right
    exact_accuracy: float  # share of texts without a mistake
    seconds: float  # spent in training so far, without the time between two reports
    layers: tuple[LayerState, ...] = ()
    induction: float | None = None
    head: tuple[int, int] | None = None


def train(network: Solver, run: LabRun, *, on: PuzzleTexts | None = None) -> Iterator[LabReport]:
    """Train in place and yield a report every 10 steps and after the last step. To stop, ask for no further report.

    on: texts that are learned from at every step; new ones are drawn for each step where none are given.

    Cross-entropy, Adam (Kingma & Ba 2015) or as the switches say, a warm-up of a tenth of the steps or as they say,
    then a linear decay to 0. Gradients are not clipped unless the switches say so: an unstable training is seen to be
    unstable.
    """
    switches, generator = run.switches, torch.Generator().manual_seed(run.seed)
    optimizer = optimizer_of(network, run)
    dropped = switches.dropout or switches.attention_dropout
    measured = EVERY * max(1, run.steps // (EVERY * MEASURED))
    network.train()
    seen, seconds, sums = 0, 0.0, np.zeros(3)  # sums of loss, token accuracy and exact accuracy
    for step in range(1, run.steps + 1):
        began = perf_counter()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(
                step, highest=run.highest_rate, warmup=run.warmup, steps=run.steps, decay="linear"
            )
        texts = draw(run.task, length=run.length, count=BATCH, generator=generator) if on is None else on
        with seeded(_FRESH * (run.seed + 1) + step) if dropped else nullcontext():
            scores = network(texts)
        loss = depth.cross_entropy(scores, texts)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if switches.clip is not None:
            nn.utils.clip_grad_norm_(network.parameters(), switches.clip)
        optimizer.step()
        value = float(loss.detach())
        sums += value, *_shares(scores.argmax(dim=-1), texts)
        diverged = not isfinite(value)
        seen, due = seen + 1, diverged or step % EVERY == 0 or step == run.steps
        states = score = head = None
        if due and not diverged:
            if step % measured == 0 or step == run.steps:
                states = depth.measure(network, fresh(run, count=BATCH))
            if run.task == "repeats":
                score, head = best_head(induction(network, run))
        seconds += perf_counter() - began
        if due:
            mean, token, exact = map(float, sums / seen)
            yield LabReport(step, value if diverged else mean, token, exact, seconds, states or (), score, head)
            seen, sums = 0, np.zeros(3)
        if diverged:
            return


def optimizer_of(network: Solver, run: LabRun) -> torch.optim.Optimizer:
    """Make the optimizer that the run's switches name."""
    decay, weights_ = (
        run.switches.weight_decay,
        [parameter for parameter in network.parameters() if parameter.requires_grad],
    )
    match run.switches.optimizer:
        case "adam":
            return torch.optim.Adam(weights_, weight_decay=decay, foreach=True)
        case "adamw":
            return torch.optim.AdamW(weights_, weight_decay=decay, foreach=True)
        case "sgd":
            return torch.optim.SGD(weights_, lr=run.highest_rate, momentum=0.9, weight_decay=decay, foreach=True)


def at_start(run: LabRun) -> tuple[LayerState, ...]:
    """Measure the layers before the first step, on the same texts as later ones."""
    return depth.measure(solver(run), fresh(run, count=BATCH))


def fresh(run: LabRun, *, times: int = 1, count: int) -> PuzzleTexts:
    """Draw texts of `times` the trained length that no training sees: the same ones for all runs of a task.

    Texts of the task kinds are made of words that no training sees either.
    """
    generator = torch.Generator().manual_seed(_FRESH + times)
    return draw(run.task, length=times * run.length, count=count, generator=generator, test=True)


@dataclass(frozen=True)
class Course:
    """A training up to its last report."""

    side: Side
    run: LabRun
    network: Solver
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
        courses = {side: Course(side, run, solver(run)) for side, run in runs.items()}
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

    A decoder writes its answer token by token, and goes on from its own mistakes; in repeats it goes on from the true
    text. attention: the weights [H, Q, T] of the one text in each layer of a stream; tokens: the characters that each
    stream reads; in "cross" they are the queries, with the encoder's as keys. An RNN has one map, [1, Q, T] of "cross",
    or without attention none. places: the share of texts in which each place of the answer is right.
    """

    times: int  # trained lengths
    token_accuracy: float
    exact_accuracy: float
    digits: tuple[int, ...]
    wanted: tuple[int, ...]
    answer: tuple[int, ...]
    attention: Mapping[Stream, tuple[NDArray[np.float32], ...]]
    tokens: Mapping[Stream, tuple[str, ...]]
    asked: tuple[bool, ...]  # the places of the answer that count
    period: int = 0  # of repeats, how many symbols the block has
    induction: NDArray[np.float32] | None = None  # of repeats, the score [L, H] of every head
    places: tuple[float, ...] = ()  # of copy, reverse and sort, whose answers all have one length


@dataclass(frozen=True)
class LabResult:
    """A training that has ended or was stopped, with its trials at one, two and four times the trained length.

    start: the layers before the first step.
    """

    side: Side
    run: LabRun
    curve: tuple[LabReport, ...]
    trials: tuple[Trial, ...]
    start: tuple[LayerState, ...] = ()


def result(course: Course) -> LabResult:
    """Test the network of a course as it is now; a network that diverged is not tested."""
    trials = () if course.diverged else tuple(trial(course.network, course.run, times=times) for times in TIMES)
    return LabResult(course.side, course.run, course.curve, trials, at_start(course.run))


@torch.inference_mode()
def trial(network: Solver, run: LabRun, *, times: int) -> Trial:
    """Test the network on 256 texts of `times` the trained length, which do not depend on the run's seed."""
    texts = fresh(run, times=times, count=TRIED)
    network.eval()
    answer = network.answer(texts)
    token, exact = _shares(answer, texts)
    written = texts if run.task == "repeats" else texts._replace(wanted=answer)  # a decoder reads what it wrote
    first = PuzzleTexts(*(part[:1] for part in written))
    read = {stream: labels(ids[0].tolist(), task=run.task) for stream, ids in network.tokens(first).items()}
    if run.shape == "encoder-decoder":
        read["cross"] = read["decoder"]
    return Trial(
        times,
        token_accuracy=token,
        exact_accuracy=exact,
        digits=tuple(texts.read[0].tolist()),
        wanted=tuple(texts.wanted[0].tolist()),
        answer=tuple(answer[0].tolist()),
        attention={
            stream: tuple(map_[0].numpy() for map_ in maps) for stream, maps in attention(network, first).items()
        },
        tokens=read,
        asked=tuple(texts.asked[0].tolist()),
        period=int(texts.period[0]),
        induction=induction(network, run, times=times) if run.task == "repeats" else None,
        places=tuple((answer == texts.wanted).float().mean(dim=0).tolist()) if run.task in ORDERED else (),
    )


@torch.inference_mode()
def attention(network: Solver, texts: PuzzleTexts) -> dict[Stream, list[Tensor]]:
    """Read texts and return the attention weights [B, H, Q, T] of every layer, by stream."""
    if isinstance(network, RecurrentSolver):
        alignment = network.alignment(texts)
        return {} if alignment is None else {"cross": [alignment[:, None]]}
    calls: list[AttentionCall] = []
    with watch(calls.append):
        network(texts)
    maps: dict[Stream, list[Tensor]] = defaultdict(list)
    for call in calls:
        maps[call.stream].append(weights(call))
    for stream, every in maps.items():
        depth_of = sum(kind == stream for kind, _ in layers(network)) or len(every)
        if len(every) > depth_of:  # a text in segments: each layer's call of one segment after the other
            maps[stream] = [joined(every[layer::depth_of]) for layer in range(depth_of)]
    return dict(maps)


@torch.inference_mode()
def induction(network: Solver, run: LabRun, *, times: int = 1) -> NDArray[np.float32]:
    """Measure each head's induction score in the task repeats -> [L, H], from 0 to 1.

    score = the mean weight from a symbol in its second time to the token after its first time, over all places that are
    asked for in 32 fresh texts (Olsson et al. 2022, who name it prefix matching). Texts are read without dropout.
    """
    texts = fresh(run, times=times, count=SCORED)
    training = network.training
    network.eval()
    maps = attention(network, texts)["decoder"]
    network.train(training)
    row, query = texts.asked.nonzero(as_tuple=True)  # the query at place q reads symbol q - 1
    key = query - texts.period[row, 0] + 1
    return np.stack([map_[row, :, query, key].mean(dim=0).numpy() for map_ in maps])


def best_head(scores: NDArray[np.float32]) -> tuple[float, tuple[int, int]]:
    """Find the largest of the scores [L, H] and its layer and head."""
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return float(scores[layer, head]), (int(layer), int(head))


def _shares(answer: Tensor, texts: PuzzleTexts) -> tuple[float, float]:
    """Count the share of asked places that are right, and of texts in which all of them are."""
    right = answer == texts.wanted
    return float(right[texts.asked].float().mean()), float((right | ~texts.asked).all(dim=1).float().mean())
