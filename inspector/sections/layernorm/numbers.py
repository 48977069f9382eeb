"""All numbers: the statistics of every token around every norm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector.sections.layernorm import stream
from inspector.sections.section import Block, Note, Section, Table
from inspector.wording import layernorm as words

if TYPE_CHECKING:
    from inspector.sections.subject import Subject


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the table of the stream's norms and tokens."""
    table = stream.statistics(subject).drop(columns="name")
    yield Note(words.numbers(norms=len(stream.norms(subject)), tokens=len(subject.tokens)))
    yield Table("layernorm", table, folded=False, height=320)


SECTION = Section("numbers", words.NUMBERS, stream.where_norms(answer))
