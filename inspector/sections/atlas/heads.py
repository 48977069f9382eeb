"""All heads of a stream, coloured by one number over all texts; a click opens one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from inspector.atlas.measures import NAMES
from inspector.components.matrix import Panel
from inspector.sections.atlas import card, card_file, like, table, texts
from inspector.sections.atlas import colour as colours
from inspector.sections.picks import Clicked, Named, Words
from inspector.sections.section import Block, Map, Mark, Note, Row, Section, Sentence
from inspector.wording import atlas as words

if TYPE_CHECKING:
    from inspector.atlas import Atlas
    from inspector.sections.atlas.colour import Colour
    from inspector.sections.subject import Subject

HALF = 0.5
FEW = 30  # texts, under which their means say little of others
FOLLOW = ("figure", "examples")
"""Choices in the card and its texts that follow what is asked for."""
COUNTED = ("cls", "sep", "first", "previous", "next", "self", "punctuation")


def answer(subject: Subject, *, atlas_asked: str, by: str) -> Iterator[Block]:
    """Yield the heads of the stream, one of them whole, and the numbers of all."""
    if not by:
        raise ValueError(words.NO_NUMBER)
    atlas = subject.atlas
    colour = colours.of(atlas, by)
    if (asked := atlas_asked.strip()) and _asked_site(subject, asked) is None:
        key = colours.found(subject, asked)
        yield Note(words.taken_for(key) if key else words.not_known(relations=atlas.relations is not None))
    inside = np.where(atlas.heads["stream"] == subject.stream, colour.values, np.nan)
    strongest = int(np.nanargmax(inside))
    picks = tuple(_at_first(pick, card.site(atlas, strongest)[pick.id]) for pick in SITE)
    yield replace(OPENED, answer=partial(_opened, colour=colour, strongest=strongest), picks=picks)
    yield replace(table.ALL, answer=partial(table.answer, colour=colour))
    yield Note(words.corpus(atlas))


def _opened(subject: Subject, *, colour: Colour, strongest: int, **site: int) -> Iterator[Block]:
    """Yield the grid of the heads, and what is told of one: of the strongest where the site has no head."""
    atlas, inside = subject.atlas, (subject.atlas.heads["stream"] == subject.stream).to_numpy()
    own = atlas.heads[inside]
    same = own[(own[list(site)] == list(site.values())).all(axis=1)]
    place = int(same.index[0]) if len(same) else strongest
    cell = Mark("atlas_grid", {name: int(own.loc[place, name]) for name in card.SITE})
    yield Sentence(card.opening(atlas, place, colour, among=inside), about=(cell,))
    grid = _grid(atlas, colour, stream=subject.stream, opened=place)
    few = words.few(atlas.counted.read) if atlas.counted.read < FEW else ""
    below = " ".join(filter(None, (few, card.besides(atlas, place, colour), rest(atlas, stream=subject.stream))))
    yield Row(((grid, Note(below)), card.of(subject, place, colour)))
    yield texts.of(place, colour)
    yield replace(card_file.TAKE, answer=partial(card_file.answer, place=place, colour=colour))
    yield replace(like.LIKE, answer=partial(like.answer, place=place))


def _grid(atlas: Atlas, colour: Colour, *, stream: str, opened: int) -> Map:
    """Lay out the heads of a stream: rows are layers, or their several attentions, and columns heads."""
    own = atlas.heads[atlas.heads["stream"] == stream]
    sites = list(dict.fromkeys(zip(own["layer"], own["call"], strict=True)))
    values = np.full((len(sites), int(own["head"].max()) + 1), np.nan)
    places = np.full(values.shape, -1)
    rows = [sites.index(site) for site in zip(own["layer"], own["call"], strict=True)]
    values[rows, own["head"]] = colour.values[own.index]
    places[rows, own["head"]] = own.index
    plain = sites == [(layer, 0) for layer in range(len(sites))]  # then a cell is named "layer 2, head 7"
    return Map(
        "atlas_grid",
        "",
        (
            Panel(
                values,
                rows=range(len(sites)) if plain else [words.row(layer, call) for layer, call in sites],
                columns=range(values.shape[1]),
                named=(rows[list(own.index).index(opened)], int(own.loc[opened, "head"])),
            ),
        ),
        words.LAYER,
        words.HEAD,
        words.grid_alt(colour.title),
        quantity=colour.quantity,
        numbered="neither",
        top=colour.top,
        code=colour.code,
        name=f"{atlas.manifest.model}-atlas",
        chooses=lambda row, column: card.site(atlas, places[row, column]) if places[row, column] >= 0 else {},
    )


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
        Named("by", words.BY, colours.options, default=colours.first, resets=FOLLOW, width=420),
    ),
    about="atlas",
    needs_model=True,
    parts=(OPENED, table.ALL),
)
