"""All heads of a stream, coloured by one number over all texts; a click opens one of them."""

from __future__ import annotations

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
from inspector.sections.section import Block, Map, Note, Paragraph, Row, Section, Sentence
from inspector.wording import atlas as words

if TYPE_CHECKING:
    from inspector.atlas import Atlas
    from inspector.sections.atlas.colour import Colour
    from inspector.sections.subject import Subject

HALF = 0.5
COUNTED = ("cls", "sep", "first", "previous", "next", "self", "punctuation")


def answer(subject: Subject, *, atlas_asked: str, by: str) -> Iterator[Block]:
    """Yield the heads of the stream, one of them whole, and the numbers of all."""
    if not by:
        raise ValueError(words.NO_NUMBER)
    atlas = subject.atlas
    colour = colours.of(atlas, by)
    yield Sentence(rest(atlas, stream=subject.stream))
    if asked := atlas_asked.strip():
        found = colours.found(subject, asked)
        yield Note(words.taken_for(found) if found else words.not_known(relations=atlas.relations is not None))
    inside = np.where(atlas.heads["stream"] == subject.stream, colour.values, np.nan)
    strongest = int(np.nanargmax(inside))
    picks = tuple(_at_first(pick, card.site(atlas, strongest)[pick.id]) for pick in SITE)
    yield replace(OPENED, answer=partial(_opened, colour=colour, strongest=strongest), picks=picks)
    yield replace(table.ALL, answer=partial(table.answer, colour=colour))
    yield Note(words.corpus(atlas))


def _opened(subject: Subject, *, colour: Colour, strongest: int, **site: int) -> Iterator[Block]:
    """Yield the grid of the heads, and what is told of one: of the strongest where the site has no head."""
    atlas = subject.atlas
    own = atlas.heads[atlas.heads["stream"] == subject.stream]
    found = own[(own[list(site)] == list(site.values())).all(axis=1)]
    place = int(found.index[0]) if len(found) else strongest
    told = (Paragraph(card.does(atlas, place, asked=colour.relation)), card.of(subject, place, colour))
    yield Row((_grid(atlas, colour, stream=subject.stream, opened=place), told), widths=(5, 6))
    yield replace(texts.ON_TEXTS, answer=partial(texts.answer, place=place, measure=colour.with_examples))
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
    return Map(
        "atlas_grid",
        "",
        (
            Panel(
                values,
                rows=[words.row(layer, call) for layer, call in sites],
                columns=[str(head) for head in range(values.shape[1])],
                marked=[rows[list(own.index).index(opened)]],
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
    return words.grid(heads=len(own), texts=atlas.counted.read, counts=counts)


def _at_first(pick: Clicked, number: int) -> Clicked:
    """Return the choice with a number that is chosen at first."""
    return replace(pick, default=lambda subject: number)


def _last(subject: Subject, name: str) -> int:
    """Return the last layer, call or head of the stream."""
    heads = subject.atlas.heads
    return int(heads.loc[heads["stream"] == subject.stream, name].max())


def _means(subject: Subject, asked: str) -> dict[str, str | None]:
    """Choose what a reader's words mean, and open the head that does most of it."""
    found = colours.found(subject, asked)
    return {} if found is None else {"by": found, **dict.fromkeys((*card.SITE, "figure"))}


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
        Named("by", words.BY, colours.options, default=colours.first, resets=("figure",), width=420),
    ),
    about="atlas",
    needs_model=True,
    parts=(OPENED, table.ALL),
)
