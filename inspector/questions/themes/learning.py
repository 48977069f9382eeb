"""Training: warm-up, dropout and initial vectors. Questions 108, 111 and 113."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from inspector.questions.record.both import Both
from inspector.questions.record.picture import Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
    Run,
    Watch,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.trained import courses_drawn, ends, train_both
from models.training.schedules import learning_rate
from models.training.tiny.experiments import BATCH, Embeddings, Experiment, LabRun, Switches
from models.training.tiny.words import WORDS
from models.transformer import config as choices

WIDTH, WARMUP = 512, 4000  # of the paper's base model
PEAK = 1 / math.sqrt(WIDTH * WARMUP)
DEEP = 8  # layers
KINDS_STEPS = 60
SEEDS = 2
_WARM_UP = Experiment(steps=200, learning_rate=0.01, a=Switches(layers=DEEP), b=Switches(layers=DEEP, warmup=0))
_TAKEN = Experiment(task="kinds", steps=100, seeds=3, a=Switches(), b=Switches(embeddings="frozen"))


def _run(switches: Switches, *, steps: int = 100, rate: float = 0.005) -> LabRun:
    return LabRun(task="reverse", length=4, steps=steps, learning_rate=rate, switches=switches, seed=0)


# --- 108: warm-up --------------------------------------------------------------------------------------------------


def _warm_up() -> Measurement:
    from models.training import lab

    steps = (1, 1000, 2000, 4000)
    rates = [learning_rate(step, highest=PEAK, warmup=WARMUP, steps=4 * WARMUP, decay="noam") for step in steps]
    line = [PEAK * step / WARMUP for step in steps]
    places: tuple[choices.NormPlacement, ...] = ("post", "pre")
    gradients = {
        place: [state.gradient for state in lab.at_start(_run(Switches(layers=DEEP, norm_placement=place)))]
        for place in places
    }
    gaps = {warmup: [_by_heart(Switches(warmup=warmup), seed=seed) for seed in range(SEEDS)] for warmup in (8, 0)}
    at = [float(layer) for layer in range(DEEP)]
    picture = Lines(
        (
            Series(Both("Post-LN", "Post-LN"), at, gradients["post"]),
            Series(Both("Pre-LN", "Pre-LN"), at, gradients["pre"], dashed=True),
        ),
        x_title=Both("layer", "层"),
        y_title=Both("gradient before the first step", "第一步之前的梯度"),
        log_y=True,
    )
    return Measurement(
        {
            "bent": max(abs(a - b) for a, b in zip(rates, line, strict=True)) / PEAK,
            "post": gradients["post"][-1],
            "pre": gradients["pre"][-1],
            "gap": float(np.mean(gaps[8])),
            "gap_without": float(np.mean(gaps[0])),
            "gap_share": max(with_ / without for with_, without in zip(gaps[8], gaps[0], strict=True)),
        },
        picture,
    )


def _by_heart(switches: Switches, *, seed: int) -> float:
    """Train on the same 32 texts at every step: the loss on fresh texts less that on these, in nats a digit."""
    from models.training import lab
    from models.training.tiny import depth
    from models.training.tiny.puzzles import draw
    from models.training.tiny.solvers import solver

    run = replace(_run(switches, steps=80), seed=seed)
    texts = draw(run.task, length=run.length, count=BATCH, generator=torch.Generator().manual_seed(seed))
    network = solver(run)
    list(lab.train(network, run, on=texts))
    network.eval()
    with torch.inference_mode():
        fresh, learned = (
            float(depth.cross_entropy(network(each), each)) for each in (lab.fresh(run, count=256), texts)
        )
    return fresh - learned


def _with_and_without(subject: Subject, watch: Watch) -> Measurement:
    """Train eight post-norm layers with warm-up and without."""
    return _compared(_WARM_UP, watch, Both("with warm-up", "有预热"), Both("without", "无预热"))


def _compared(experiment: Experiment, watch: Watch, a: Both, b: Both) -> Measurement:
    """Train both sides from all seeds: mean accuracy on fresh texts over the seeds, and the curves of the loss."""
    courses = train_both(experiment, watch)
    right_a, right_b = ends(
        courses, lambda course: course.curve[-1].token_accuracy if course.diverged else _fresh_accuracy(course)
    )
    picture = courses_drawn(courses, (a, b), y_title=Both("loss, nats", "损失，nat"), log_y=True)
    return Measurement({"a": sum(right_a) / len(right_a), "b": sum(right_b) / len(right_b)}, picture)


def _fresh_accuracy(course: Any) -> float:
    from models.training import lab

    return lab.trial(course.network, course.run, times=1).token_accuracy


# --- 111: the rate, and dropout ------------------------------------------------------------------------------------


def _rate_and_dropout() -> Measurement:
    from models.training import lab
    from models.training.tiny.solvers import solver

    steps = (1, 1000, 2000, 4000, 8000, 16000, 40000)
    rates = [learning_rate(step, highest=PEAK, warmup=WARMUP, steps=steps[-1], decay="noam") for step in steps]
    generator = torch.random.get_rng_state()
    torch.manual_seed(0)
    try:
        dropped = nn.Dropout(0.1)(torch.ones(100_000))
        run = _run(Switches(dropout=0.1))
        network, texts = solver(run), lab.fresh(run, count=4)

        def apart() -> float:
            with torch.inference_mode():
                once, again = (_scores(network(texts)) for _ in range(2))
            return float((once - again).abs().max())

        network.train()
        training = apart()
        network.eval()
        testing = apart()
    finally:
        torch.random.set_rng_state(generator)
    picture = Lines(
        (Series(Both("learning rate", "学习率"), list(steps), rates),),
        x_title=Both("step", "训练步数"),
        y_title=Both("learning rate", "学习率"),
        log_x=True,
        log_y=True,
        mark_x=float(WARMUP),
    )
    return Measurement(
        {
            "peak": max(rates),
            "later": rates[-1] / max(rates),
            "zero": float((dropped == 0).float().mean()),
            "kept": float(dropped.max()),
            "training": training,
            "testing": testing,
        },
        picture,
    )


def _scores(logits: Tensor) -> Tensor:
    return logits.float()


# --- 113: word vectors ---------------------------------------------------------------------------------------------


def _misplaced(network: nn.Module) -> None:
    """Give each word of the task the vector of another word, drawn with seed 0."""
    table = network.get_parameter("encoder.embedding.token.weight")
    order = torch.randperm(len(WORDS), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        table[: len(WORDS)] = table[order].clone()


def _word_vectors() -> Measurement:
    from models.training import lab
    from models.training.tiny.solvers import solver

    curves, unseen, seen = {}, {}, {}
    sides: tuple[tuple[str, Embeddings], ...] = (("random", "random"), ("taken", "frozen"), ("moved", "frozen"))
    for side, embeddings in sides:
        switches = Switches(embeddings=embeddings)
        run = LabRun(task="kinds", length=8, steps=KINDS_STEPS, learning_rate=0.002, switches=switches, seed=0)
        network = solver(run)
        if side == "moved":
            _misplaced(network)
        curves[side] = list(lab.train(network, run))
        seen[side] = curves[side][-1].token_accuracy
        unseen[side] = lab.trial(network, run, times=1).token_accuracy
    names = {"random": Both("random", "随机初始化"), "taken": Both("pretrained", "预训练")}
    picture = Lines(
        tuple(
            Series(
                name,
                [report.step for report in curves[side]],
                [report.token_accuracy for report in curves[side]],
                dashed=side == "random",
            )
            for side, name in names.items()
        ),
        x_title=Both("step", "训练步数"),
        y_title=Both("words right, of those that are trained", "训练用词的正确率"),
    )
    return Measurement(
        {
            "seen_random": seen["random"],
            "seen_taken": seen["taken"],
            "unseen_random": unseen["random"],
            "unseen_taken": unseen["taken"],
            "unseen_moved": unseen["moved"],
        },
        picture,
    )


def _both_embeddings(subject: Subject, watch: Watch) -> Measurement:
    """Train with random and with mini-bert's embeddings, from three seeds each."""
    return _compared(_TAKEN, watch, Both("random", "随机初始化"), Both("pretrained", "预训练"))


MEASURES: dict[int, Measure] = {
    108: lambda subject: subject.cached("warm-up", _warm_up),
    111: lambda subject: subject.cached("rate and dropout", _rate_and_dropout),
    113: lambda subject: subject.cached("word vectors", _word_vectors),
}
RUNS: dict[int, Run] = {
    108: _with_and_without,
    113: _both_embeddings,
}
