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
    from inspector.atlas import Atlas
    from inspector.atlas.reading.head_examples import Span, StrongPair
    from inspector.atlas.texts import Text
    from inspector.sections.atlas.colour import Colour
    from inspector.sections.subject import Subject

LONGEST = 80  # characters of a text that are shown


def of(atlas: Atlas, place: int, colour: Colour) -> Section:
    """Return a head's texts; where a relation is asked for, those in which the head joins its two words most.

    An atlas that was built before such texts were kept has none: then its pairs of tokens.
    """
    relation = colour.relation(place)
    ranked = None if relation is None or atlas.examples(" ".join(relation), place).empty else relation
    missing = set() if relation is None else {"usual"} if ranked else {"usual", "strongest"}
    kinds = {id: name for id, name in words.KINDS.items() if id not in missing}
    kind = Option("examples", words.WHICH_TEXTS, lambda subject: kinds)
    made = partial(answer, place=place, measure=colour.with_examples, relation=ranked)
    return replace(ON_TEXTS, answer=made, picks=(kind,))


def answer(
    subject: Subject, *, examples: str, place: int, measure: str, relation: tuple[str, str] | None
) -> Iterator[Block]:
    """Yield one kind of texts, the strongest by the relation where there is one, else by the measure."""
    atlas = subject.atlas
    if examples == "strongest" and relation is not None:
        yield Note(words.sorted_by_relation(*relation))
        for example in head_examples.strongest(atlas, " ".join(relation), place):
            told = words.value(example.value, measures.find("confidence"))
            yield _quote(subject, place, example.text, f"**{told}**")
        return
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
