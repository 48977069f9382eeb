"""All heads of a stream, coloured by one number over all texts; a click opens one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from inspector.atlas.measures import NAMES
from inspector.sections.atlas import beside, card, card_file, grid, like, table, texts
from inspector.sections.atlas import colour as colours
from inspector.sections.picks import Clicked, Named, Words
from inspector.sections.section import Block, Mark, Note, Row, Section, Sentence
from inspector.wording import atlas as words
from inspector.wording import mixers as mixer_words
from models.config_facts import layer_counts
from models.huggingface.mixers import has_mixers

if TYPE_CHECKING:
    from inspector.atlas import Atlas
    from inspector.sections.atlas.colour import Colour
    from inspector.sections.subject import Subject

HALF = 0.5
FEW = 30  # texts, under which their means say little of others
FOLLOW = ("figure", "examples")
"""Choices in the card and its texts that follow what is asked for."""
COUNTED = ("cls", "sep", "first", "previous", "next", "self", "punctuation")


def answer(subject: Subject, *, atlas_asked: str, by: str, atlas_beside: str) -> Iterator[Block]:
    """Yield the heads of the stream, beside those of a second atlas; one of them whole; and the numbers of all."""
    if not by:
        raise ValueError(words.NO_NUMBER)
    atlas, second = subject.atlas, beside.opened(subject, atlas_beside)
    colour = colours.of(atlas, by)
    if (asked := atlas_asked.strip()) and _asked_site(subject, asked) is None:
        key = colours.found(subject, asked)
        yield Note(words.taken_for(key) if key else words.not_known(relations=atlas.relations is not None))
    inside = np.where(atlas.heads["stream"] == subject.stream, colour.values, np.nan)
    strongest = int(np.nanargmax(inside))
    picks = tuple(_at_first(pick, card.site(atlas, strongest)[pick.id]) for pick in SITE)
    yield replace(OPENED, answer=partial(_opened, colour=colour, strongest=strongest, second=second), picks=picks)
    yield replace(table.ALL, answer=partial(table.answer, colour=colour))
    for shown in filter(None, (atlas, second)):
        yield Note(words.corpus(shown))


def _opened(subject: Subject, *, colour: Colour, strongest: int, second: Atlas | None, **site: int) -> Iterator[Block]:
    """Yield the grid of the heads, and what is told of one: of the strongest where the site has no head."""
    atlas, stream = subject.atlas, subject.stream
    own = atlas.heads[atlas.heads["stream"] == stream]
    same = own[(own[list(site)] == list(site.values())).all(axis=1)]
    place = int(same.index[0]) if len(same) else strongest
    first = grid.Grid(atlas, colour, stream, place)
    told = (_few(atlas), card.besides(atlas, place, colour), rest(atlas, stream=stream), _left_out(subject))
    below = Note(" ".join(filter(None, told)))
    about = (Mark(grid.ID, card.site(atlas, place)),)
    of_card = card.of(subject, place, colour)
    other = None if second is None else beside.grid(first, second)
    if second is None or other is None:
        yield Sentence(card.opening(atlas, place, colour, among=first.inside), about=about)
        without = () if second is None else (Note(beside.NO_NUMBER),)
        yield Row(((grid.drawn(first), *without, below), of_card))
    else:
        yield Sentence(beside.opening(first, other), about=about)
        titled = replace(first, title=beside.title(second, atlas, stream=stream))
        yield grid.drawn(titled, other, choosing=1 + beside.same_model(atlas, second))
        yield Row(((Note(beside.of_texts(atlas, second)), below), of_card))
    yield texts.of(atlas, place, colour)
    yield replace(card_file.TAKE, answer=partial(card_file.answer, place=place, colour=colour))
    yield replace(like.LIKE, answer=partial(like.answer, place=place, second=second))


def _left_out(subject: Subject) -> str:
    """Name the layers of the model that have no row, because they mix tokens in another way; "" where all have."""
    if subject.loaded is None or not has_mixers(subject.loaded.network):
        return ""
    count, shown = layer_counts(subject.loaded.config)[0], set(subject.atlas.heads["layer"])
    layers = [layer for layer in range(count) if layer not in shown]
    return words.without_rows(layers, of=count) if layers else mixer_words.SOFTMAX_ALONE


def _few(atlas: Atlas) -> str:
    """Say that an atlas has few texts, where it has; else ""."""
    return words.few(atlas.counted.read) if atlas.counted.read < FEW else ""


def rest(atlas: Atlas, *, stream: str) -> str:
    """Count the heads of a stream that give more than half of their weight to one kind of token."""
    own = np.flatnonzero(atlas.heads["stream"] == stream)
    means = atlas.statistics.mean[:, own]
    starts = np.isfinite(means[NAMES.index("cls")]).any()  # then the first token is told by its name
    told = [name for name in COUNTED if not (starts and name == "first")]
    counts = {name: int((means[NAMES.index(name)] > HALF).sum()) for name in told}
    return words.grid(heads=len(own), counts=counts)


def _at_first(pick: Clicked, number: int) -> Clicked:
    """Return the choice with a number that is chosen at first."""
    return replace(pick, default=lambda subject: number)


def _last(subject: Subject, name: str) -> int:
    """Return the last layer, call or head of the stream."""
    heads = subject.atlas.heads
    return int(heads.loc[heads["stream"] == subject.stream, name].max())


def _means(subject: Subject, asked: str) -> dict[str, str | int | None]:
    """Choose what a reader's words mean, and open the head that does most of it, or the head that they name."""
    if (site := _asked_site(subject, asked)) is not None:
        return {**site}
    key = colours.found(subject, asked)
    return {} if key is None else {"by": key, **dict.fromkeys((*card.SITE, *FOLLOW))}


def _asked_site(subject: Subject, asked: str) -> dict[str, int] | None:
    """Find the head that a reader names, as in "layer 3 head 7"; None where the stream has no such head."""
    named = re.search(r"layer\D{0,3}(\d{1,3})\D{1,6}head\D{0,3}(\d{1,3})", asked.lower())
    if named is None:
        return None
    layer, head = int(named[1]), int(named[2])
    heads = subject.atlas.heads
    there = heads[(heads["stream"] == subject.stream) & (heads["layer"] == layer) & (heads["head"] == head)]
    return card.site(subject.atlas, int(there.index[0])) if len(there) else None


SITE = tuple(
    Clicked(name, words.SITE[name], last=partial(_last, name=name), default=lambda subject: 0) for name in card.SITE
)
OPENED = Section(
    "head",
    "",
    _opened,
    SITE,
    about="atlas",
    needs_model=True,
    parts=(card.CARD, texts.ON_TEXTS, card_file.TAKE, like.LIKE),
)
SECTION = Section(
    "heads",
    words.HEADS,
    answer,
    (
        Words("atlas_asked", words.FIND, _means, example=words.EXAMPLE),
        Named("by", words.BY, colours.options, default=colours.first, resets=FOLLOW, width=340),
        beside.BESIDE,
    ),
    about="atlas",
    needs_model=True,
    parts=(OPENED, table.ALL),
)
