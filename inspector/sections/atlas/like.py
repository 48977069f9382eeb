"""Heads that do what a head does: of the same model, and of the other models that have an atlas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector.atlas import library
from inspector.atlas.opened import open_atlas
from inspector.atlas.reading import likeness
from inspector.sections.atlas import card
from inspector.sections.names import named
from inspector.sections.picks import Switch
from inspector.sections.section import Block, Choice, Choices, Note, Paragraph, Section
from inspector.wording import atlas as of_atlas
from inspector.wording import atlas_card as words

if TYPE_CHECKING:
    from inspector.atlas import Atlas
    from inspector.sections.subject import Subject

LISTED = 6


def answer(subject: Subject, *, atlas_everywhere: bool, place: int) -> Iterator[Block]:
    """Yield the nearest heads; one of this model opens with a click."""
    atlas = subject.atlas
    every = [atlas]
    if atlas_everywhere:
        every += [_shipped(subject, id) for id in library.shipped() if id != atlas.manifest.model]
    key = ("atlas like", *(one.manifest.key for one in every), place)
    rows = subject.of_all(
        key, lambda: likeness.like([one.statistics.mean.T for one in every], model=0, place=place)
    ).head(LISTED)
    yield Choices(tuple(_choice(every, row.model, row.place, row.distance) for row in rows.itertuples()))
    yield Paragraph(f":small[:gray[{words.LIKE}]]", help=words.LIKE_MEANS)
    if atlas_everywhere:
        yield Note(words.other_corpora({named(one.manifest.model): one.manifest.corpus for one in every}))


def _choice(every: list[Atlas], model: int, place: int, distance: float) -> Choice:
    name = of_atlas.name(every[model], place)
    if model:
        return Choice("", words.like(name, distance=distance, model=named(every[model].manifest.model)))
    return Choice(f"like {place}", words.like(name, distance=distance), card.site(every[0], place))


def _shipped(subject: Subject, id: str) -> Atlas:
    """Open a shipped atlas, once for all readers."""
    return subject.of_all(("atlas shipped", id), lambda: open_atlas(library.SHIPPED / id))


LIKE = Section(
    "like",
    words.LIKE_IT,
    answer,
    (Switch("atlas_everywhere", words.EVERYWHERE),),
    about="atlas",
)
