"""Heads that do what a head does: of the same atlas, and of the atlas that is set beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector.atlas.reading import likeness
from inspector.sections.atlas import beside, card
from inspector.sections.section import Block, Choice, Choices, Paragraph, Section
from inspector.text import plain
from inspector.wording import atlas as of_atlas
from inspector.wording import atlas_card as words

if TYPE_CHECKING:
    from inspector.atlas import Atlas
    from inspector.sections.subject import Subject

LISTED = 6


def answer(subject: Subject, *, place: int, second: Atlas | None) -> Iterator[Block]:
    """Yield the nearest heads, those of an atlas beside the open one too; a head of this model opens with a click."""
    atlas = subject.atlas
    every = [atlas] if second is None else [atlas, second]
    key = ("atlas like", *(one.manifest.key for one in every), place)
    rows = subject.of_all(
        key, lambda: likeness.like([one.statistics.mean.T for one in every], model=0, place=place)
    ).head(LISTED)
    yield Choices(tuple(_choice(every, row.model, row.place, row.distance) for row in rows.itertuples()))
    yield Paragraph(f":small[:gray[{words.LIKE}]]", help=words.LIKE_MEANS)


def _choice(every: list[Atlas], model: int, place: int, distance: float) -> Choice:
    name = of_atlas.name(every[model], place)
    if model:
        title = beside.title(every[0], every[model], stream="")
        return Choice("", words.like(name, distance=distance, model=plain(title)))
    return Choice(f"like {place}", words.like(name, distance=distance), card.site(every[0], place))


LIKE = Section("like", words.LIKE_IT, answer, about="atlas")
