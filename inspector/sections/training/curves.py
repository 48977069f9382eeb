"""Curves of a training: loss, accuracy and gradient by step, and the learning rate beside other schedules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import log
from typing import TYPE_CHECKING

from inspector import training
from inspector.plots import training as draw
from inspector.sections.picks import Switch
from inspector.sections.section import Block, Check, Figure, File, Files, Mark, Note, Problem, Section, Sentence
from inspector.sections.training import files
from inspector.wording import training as words
from models.training import metrics
from models.training.schedules import last_constant

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject
    from inspector.sections.training.files import Trained

FIT = (
    0.01  # of the highest rate: what the measured rates may differ from the recipe's, which are written in four digits
)


def answer(subject: Subject, *, run: str, log_steps: bool) -> Iterator[Block]:
    """Yield loss, accuracy and gradient norm by step, and the learning rate."""
    trained = files.read(run)
    if trained.rows is None:
        yield from map(Problem, trained.problems)
        return
    if valid := evaluated(trained.rows):
        ends = (valid[0], valid[-1])
        about = tuple(Mark("curves", {"step": step}) for step, _ in ends)
        yield Sentence(words.fall(first=valid[0], last=valid[-1]), words.TERMS, about)
    yield from _curves(trained, trained.rows, log_steps=log_steps)
    yield from schedule(subject, trained, trained.rows)
    yield from map(Problem, trained.problems)
    yield Files((metrics_file(trained),))


def evaluated(rows: pd.DataFrame) -> list[tuple[int, float]]:
    """List the steps at which the valid loss was measured, with the loss; rows: of `training.curves`."""
    valid = rows.dropna(subset=["valid_loss"])
    return [(int(step), float(loss)) for step, loss in zip(valid["step"], valid["valid_loss"], strict=True)]


def _curves(trained: Trained, rows: pd.DataFrame, *, log_steps: bool) -> Iterator[Block]:
    """Yield the curves, and how they are read."""
    recipe, vocabulary = trained.recipe, trained.vocabulary
    smoothing = 0.0 if recipe is None else recipe.label_smoothing
    least = training.least_loss(smoothing, vocabulary=vocabulary) if vocabulary else 0.0
    yield Figure(
        "curves",
        words.CURVES,
        partial(
            draw.curves,
            rows,
            uniform=log(vocabulary) if vocabulary else None,
            least=least,
            clip=None if recipe is None else recipe.clip,
            step=None,
            along="log" if log_steps else "linear",
        ),
        words.CURVES_ALT,
        f"{trained.code}table = training.curves(history.read_metrics(folder))",
        rows,
        name=f"{trained.name}-curves",
    )
    valid = rows.dropna(subset=["valid_loss"])
    said = words.explained(
        masked=recipe is not None and recipe.objective == "mask",
        dropout=None if recipe is None else recipe.dropout,
        smoothing=smoothing,
        least=least,
        valid=[(int(row["step"]), float(row["valid_loss"])) for _, row in valid.iloc[[0, -1]].iterrows()]
        if len(valid)
        else [],
        vocabulary=vocabulary,
    )
    yield Note(" ".join(said))


def schedule(subject: Subject, trained: Trained, rows: pd.DataFrame) -> Iterator[Block]:
    """Yield the learning rate that the recipe asks for, others beside it, and what was measured."""
    recipe, steps = trained.recipe, int(rows["step"].iloc[-1])
    if recipe is None:
        yield Note(words.no_recipe(trained.name))
        return
    rates = subject.of_all(("schedules", recipe, steps), lambda: training.schedules(recipe, steps=steps))
    yield Note(
        words.schedule(
            recipe.decay,
            peak=recipe.learning_rate,
            warmup=recipe.warmup,
            steps=steps,
            constant=last_constant(steps),
        ),
        words.RATES,
    )
    yield Figure(
        "schedule",
        "",
        draw.schedule(rates, decay=recipe.decay, measured=rows),
        words.rates_alt(recipe.decay),
        "from inspector import training\nfrom models.training.recipes import RECIPES\n\n"
        f"table = training.schedules(RECIPES[{recipe.name!r}], steps={steps})",
        name=f"{recipe.name}-learning-rate",
    )
    measured = rows.set_index("step")["learning_rate"]
    off = float((rates.set_index("step")[recipe.decay].reindex(rows["step"]) - measured).abs().max())
    if off <= FIT * recipe.learning_rate:
        yield Note(words.rates_fit(len(rows), off=off))
    else:
        yield Check(words.other_rates(recipe.name), holds=False)


def metrics_file(trained: Trained) -> File:
    """Return the training's own file of metrics."""
    path = trained.folder / metrics.FILE
    return File(f"{trained.name}-metrics.csv", lambda mode: path.read_bytes(), words.METRICS, words.METRICS_LABEL)


SECTION = Section("loss", words.LOSS, answer, (files.RUN, Switch("log_steps", words.LOGARITHMIC)), about="course")
