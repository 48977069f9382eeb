"""Position encodings side by side, and what each makes of one distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from inspector import positional
from inspector.sections.positions.found import find
from inspector.sections.section import Block, Note, Paragraph, Section, Table
from inspector.wording import positions as words

if TYPE_CHECKING:
    from inspector.positional import Kind
    from inspector.sections.subject import Subject

APART = positional.APART
ROUNDING = 1e-9  # of a score: rounding alone stays below


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the table of the kinds, with a number for each."""
    found = find(subject)
    table = subject.of_all("kinds of positions", positional.side_by_side)
    yield Paragraph(sides(table), words.SIDE_BY_SIDE)
    said = pd.DataFrame(
        [words.KIND_NAMES[kind] for kind in table["kind"]], columns=["kind", "where", "adds", "learned", "beyond"]
    )
    here = [words.YES if kind in found.ways else "" for kind in table["kind"]]
    listed = table.assign(here=here, **said)[list(words.HEADS)]
    yield Table("positions-kinds", listed, words=words.HEADS, folded=False)
    yield Note(words.about_kinds(apart=APART, places=positional.POSITIONS, rounding=rounding(table)))
    for rotation in found.rotations:
        if len(rotation.cos) > APART:
            yield Note(words.own_rotation(apart=APART, spread=rotation.spread(distance=APART)))
    yield Note(words.FURTHER_KIND)


def sides(table: pd.DataFrame) -> str:
    """Sort the kinds by what they make of one distance; table: of `positional.side_by_side`."""
    differ = _differences(table)
    return words.sides(
        same=[kind for kind, value in differ.items() if value < ROUNDING],
        more={kind: value for kind, value in differ.items() if value >= ROUNDING},
    )


def rounding(table: pd.DataFrame) -> dict[Kind, float]:
    """List the kinds whose scores at one distance differ by rounding alone; table: of `positional.side_by_side`."""
    return {kind: value for kind, value in _differences(table).items() if 0 < value < ROUNDING}


def _differences(table: pd.DataFrame) -> dict[Kind, float]:
    return dict(zip(table["kind"], table["same"].astype(float), strict=True))


SECTION = Section("kinds", words.KINDS, answer, needs_model=True)
