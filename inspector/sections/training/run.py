"""A training: its replay and its curves, the learning rate, and what was trained on what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector.sections.picks import Named
from inspector.sections.section import (
    Block,
    Files,
    Mark,
    Note,
    Number,
    Numbers,
    Paragraph,
    Problem,
    Section,
    Sentence,
)
from inspector.sections.training import curves, files, moments
from inspector.sections.training.files import Trained
from inspector.wording import training as words
from models import checkpoints
from models.training import history

if TYPE_CHECKING:
    import pandas as pd

    from inspector.sections.subject import Subject


def answer(subject: Subject, *, run: str) -> Iterator[Block]:
    """Yield how a model learned; what a missing file would tell is left out, and said."""
    if not run:
        raise ValueError(words.none_tells(str(checkpoints.FOLDER)))
    trained = files.read(run)
    if trained.rows is not None and (valid := evaluated(trained.rows)):
        about = (Mark("curves", {"step": valid[-1][0]}),)
        yield Sentence(words.fall(first=valid[0], last=valid[-1]), words.TERMS, about)
    try:
        replay = files.replay(subject, trained)
    except ValueError as error:
        yield Problem(str(error))
        if trained.rows is not None:
            yield curves.part(trained, trained.rows, step=None)
            yield Files((curves.metrics_file(trained),))
    else:
        yield moments.part(replay, trained)
    for problem in trained.problems:
        yield Problem(problem)
    if trained.rows is not None:
        yield from curves.schedule(trained, trained.rows)
    yield from _about(trained)


def evaluated(rows: pd.DataFrame) -> list[tuple[int, float]]:
    """List the steps at which the valid loss was measured, with the loss; rows: of `training.curves`."""
    valid = rows.dropna(subset=["valid_loss"])
    return [(int(step), float(loss)) for step, loss in zip(valid["step"], valid["valid_loss"], strict=True)]


def _about(trained: Trained) -> Iterator[Block]:
    """Yield what was trained, on what, for how long."""
    rows, seed = trained.rows, None if trained.recipe is None else trained.recipe.seed
    valid = [] if rows is None else evaluated(rows)
    numbers = words.numbers(
        parameters=None if trained.size is None else trained.size.parameters,
        steps=None if rows is None else int(rows["step"].iloc[-1]),
        seconds=None if rows is None else float(rows["seconds"].iloc[-1]),
        loss=valid[-1][1] if valid else None,
        seed=seed,
    )
    yield Numbers(tuple(Number(*number) for number in numbers), cards=True, heading=words.TRAINED)
    try:
        card = history.read_card(trained.folder)
    except ValueError as error:
        yield Problem(str(error))
    else:
        data = [line.removeprefix("- ") for line in history.section(card, "Data").splitlines()]
        yield Note(words.data(data, hardware=history.section(card, "Hardware and time")))
        yield replace(CARD, answer=partial(_card, text=card.partition("\n")[2]))
    yield Note(words.one_seed(seed))


def _card(subject: Subject, *, text: str) -> Iterator[Block]:
    yield Paragraph(words.without_formulas(text))


CARD = Section("training_card", words.CARD, _card, about="course", folded=True, icon="description")
SECTION = Section(
    "training",
    words.TITLE,
    answer,
    (Named("run", words.RUN, files.titles, width=300),),
    about="course",
    parts=(moments.READ, moments.REPLAY, moments.OPEN, moments.MEASURE, curves.CURVES, CARD),
)
