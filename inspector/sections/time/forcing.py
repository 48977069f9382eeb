"""Teacher forcing: one pass over a given text beside the same text step by step, as a difference."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from inspector.plots.time import forcing as draw
from inspector.sections import names
from inspector.sections.picks import Count
from inspector.sections.section import (
    Block,
    Figure,
    Mark,
    Need,
    Note,
    Number,
    Numbers,
    Paragraph,
    Row,
    Section,
    Sentence,
    Table,
)
from inspector.sections.time import steps
from inspector.text import plain
from inspector.wording import time as wording

if TYPE_CHECKING:
    from inspector.sections.subject import Subject

words = wording.forcing

USUAL = 24  # tokens


def answer(subject: Subject, *, forced_tokens: int) -> Iterator[Block]:
    """Yield how far step by step is from one pass, in a model that writes."""
    found = steps.forced(subject, tokens=forced_tokens)
    largest = found.table.loc[found.table[["cached", "uncached"]].max(axis=1).idxmax()]
    about = (Mark("forcing-differences", {"position": int(largest["position"])}),)
    yield Sentence(words.comparing(found, model=plain(names.name(subject.model))), words.TERMS, about)
    figure = Figure(
        "forcing-differences",
        words.DIFFERENCE,
        partial(draw.differences, found),
        words.DIFFERENCE_ALT,
        f"{steps.code(subject)}table = stepwise.compare(loaded, trace, tokens={forced_tokens}).table",
        found.table,
    )
    waiting = Table("forcing-waiting", words.waiting(forced_tokens), words.WAIT, prose=True)
    yield Row((figure, (waiting, Paragraph(words.RNN))), widths=(3, 2))
    yield Numbers(tuple(Number(*one) for one in words.numbers(found)))
    yield Note(words.about(found))
    yield Table("teacher-forcing", found.table, words=words.COLUMNS, height=320)


SECTION = Section(
    "forcing",
    words.FORCING,
    answer,
    (Count("forced_tokens", words.READ, steps.room, lambda subject: min(USUAL, steps.room(subject)), first_value=1),),
    needs_model=True,
    waits=words.READING,
    need=Need(words.CANNOT, lambda loaded: loaded.write is not None, steps.WRITERS),
)
