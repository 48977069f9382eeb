"""A training run: on what, for how long, and what a single training does not prove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector.sections.section import Block, Note, Number, Numbers, Paragraph, Problem, Section, Sentence
from inspector.sections.training import curves, files
from inspector.wording import training as words
from models.training import history

if TYPE_CHECKING:
    from inspector.sections.subject import Subject


def answer(subject: Subject, *, run: str) -> Iterator[Block]:
    """Yield what was trained, on what, for how long; what a missing file would tell is left out, and said."""
    trained = files.read(run)
    rows, seed = trained.rows, None if trained.recipe is None else trained.recipe.seed
    valid = [] if rows is None else curves.evaluated(rows)
    steps = None if rows is None else int(rows["step"].iloc[-1])
    seconds = None if rows is None else float(rows["seconds"].iloc[-1])
    if steps is not None and seconds is not None:
        yield Sentence(words.made(steps=steps, seconds=seconds))
    numbers = words.numbers(
        parameters=None if trained.size is None else trained.size.parameters,
        steps=steps,
        seconds=seconds,
        loss=valid[-1][1] if valid else None,
        seed=seed,
    )
    yield Numbers(tuple(Number(*number) for number in numbers), cards=True)
    yield Note(words.one_seed(seed))
    for problem in trained.problems:
        yield Problem(problem)
    try:
        card = history.read_card(trained.folder)
    except ValueError as error:
        yield Problem(str(error))
        return
    data = [line.removeprefix("- ") for line in history.section(card, "Data").splitlines()]
    yield Note(words.data(data, hardware=history.section(card, "Hardware and time")))
    yield replace(CARD, answer=partial(_card, text=card.partition("\n")[2]))


def _card(subject: Subject, *, text: str) -> Iterator[Block]:
    yield Paragraph(words.without_formulas(text))


CARD = Section("training_card", words.CARD, _card, about="course", folded=True, icon="description")
SECTION = Section("trained", words.TRAINED, answer, (files.RUN,), about="course", parts=(CARD,))
