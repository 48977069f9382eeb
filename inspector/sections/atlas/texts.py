"""Texts that show what a head does: its strongest, its usual ones, its strongest pairs; each opens in Attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector.atlas import measures
from inspector.atlas.reading import head_examples
from inspector.sections.picks import Option
from inspector.sections.section import Block, Link, Note, Quote, Section
from inspector.wording import atlas_card as words

if TYPE_CHECKING:
    from inspector.atlas.reading.head_examples import Span, StrongPair
    from inspector.atlas.texts import Text
    from inspector.sections.atlas.colour import Colour
    from inspector.sections.subject import Subject

LONGEST = 80  # characters of a text that are shown


def of(place: int, colour: Colour) -> Section:
    """Return a head's texts; where a relation is asked for, by which no text is ranked, first its pairs of tokens."""
    kind = Option("examples", words.WHICH_TEXTS, lambda subject: words.KINDS, lambda subject: _first(colour))
    return replace(ON_TEXTS, answer=partial(answer, place=place, measure=colour.with_examples), picks=(kind,))


def _first(colour: Colour) -> str:
    return "usual" if colour.scores is None else "pairs"


def answer(subject: Subject, *, examples: str, place: int, measure: str) -> Iterator[Block]:
    """Yield one kind of texts."""
    atlas = subject.atlas
    if examples == "pairs":
        for pair in head_examples.pairs(atlas, place, head_examples.spans_in(subject.model)):
            yield _quote(subject, place, pair.text, _pair(pair), query=str(pair.query), key=str(pair.key))
        return
    listed = head_examples.by_decile if examples == "usual" else head_examples.strongest
    own, found = measures.find(measure), listed(atlas, measure, place)
    yield Note(words.sorted_by(own) if found else words.NO_EXAMPLE)
    for example in found:
        yield _quote(subject, place, example.text, f"**{words.value(example.value, own)}**")


def _quote(subject: Subject, place: int, text: Text, said: str, **pair: str) -> Quote:
    """Quote a text from its beginning, with the way to the head's map on it."""
    site = subject.atlas.heads.iloc[place]
    given = {"text": text.text} | {name: str(site[name]) for name in ("layer", "head", "stream")}
    given |= {"call": str(site["call"])} if site["call"] else {}
    given |= {"target": text.target} if text.target is not None else {}
    given |= {"model": subject.model.card.id} | pair
    shown = text.text if len(text.text) <= LONGEST else f"{text.text[:LONGEST]}…"
    return Quote(said, shown, Link("", words.OPEN, given))


def _pair(pair: StrongPair) -> str:
    return words.pair(
        weight=words.value(pair.weight, measures.find("confidence")),
        query=_of(pair.text, pair.query_in, pair.query_span),
        key=_of(pair.text, pair.key_in, pair.key_span),
        places=(pair.query, pair.key),
    )


def _of(text: Text, side: str, span: Span | None) -> str | None:
    """Take a token's characters; None where they are not known."""
    whole = text.text if side == "text" else (text.target or "")
    return None if span is None else whole[slice(*span)]


ON_TEXTS = Section(
    "texts",
    words.ON_TEXTS,
    answer,
    (Option("examples", words.WHICH_TEXTS, lambda subject: words.KINDS),),
    about="atlas",
    needs_model=True,
)
