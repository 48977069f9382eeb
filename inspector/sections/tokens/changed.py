"""One token changed: which tokens' states move, before it and after it, in an encoder and in a decoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector import batches, examples
from inspector.batches.spreading import Spreading, spreading
from inspector.plots import batches as draw
from inspector.sections import names
from inspector.sections.picks import Token
from inspector.sections.section import Block, Figure, Mark, Note, Paragraph, Row, Section, Sentence
from inspector.sections.tokens import readers
from inspector.sections.tokens.readers import Reader
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    from inspector.sections.subject import Subject
    from models.tokenizers import Encoding

words = wording.changed


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the part with the choice of a token, as the model reads the text."""
    with names.told(words.READING, instead=words.READING_INSTEAD):
        encoding = read(subject, Reader(subject.model, subject.trace.text))
    tokens = encoding.tokens
    token = replace(TOKEN, options=lambda subject: tokens, default=len(tokens) // 2)
    yield replace(MOVED, answer=partial(_moved, encoding=encoding), picks=(token,))


def read(subject: Subject, reader: Reader) -> Encoding:
    """Give the tokens whose states are looked at: those of the text, or of what an encoder-decoder writes for it."""
    if reader.loaded.shape != "encoder-decoder":
        return reader.loaded.encode(reader.text)

    def make() -> Encoding:
        trace = batches.read(reader.loaded, (reader.text,), layout="alone").row_of(0).trace
        return trace.read_by(trace.sites[-1].stream)

    return subject.of_all(("read alone", subject.version, *reader.key), make)


def _moved(subject: Subject, *, changed: int, encoding: Encoding) -> Iterator[Block]:
    """Yield how far each token's state moves, in the model and in another that reads in the other way."""
    places = {Reader(subject.model, subject.trace.text): changed}
    with names.told(words.READING, instead=words.READING_INSTEAD):
        if (other := _other(subject)) is not None:
            places[other] = same_place(encoding, changed, read(subject, other))
        figures, moves = zip(*(_figure(subject, reader, token) for reader, token in places.items()), strict=True)
    told = {reader.name: move for reader, move in zip(places, moves, strict=True)}
    mark = Mark(figures[0].id, {"position": changed})
    yield Sentence(words.spreading(told), words.TERMS, (mark,))
    yield Row(figures)
    yield Note(words.MOVED)
    yield Paragraph(words.why(told))


def _other(subject: Subject) -> Reader | None:
    """Choose a model that reads in the other way; None where none of Headlight's does in the text's language."""
    text = subject.trace.text
    english = examples.reads(readers.DECODER, text)
    if subject.model.shape != "encoder":
        return Reader(subject.load(readers.encoder_for(subject, english=english)), text)
    return Reader(subject.load(readers.DECODER), text) if english else None


def _figure(subject: Subject, reader: Reader, token: int) -> tuple[Figure, Spreading]:
    """Change a token, and draw how far each token's last hidden state moves."""
    table, put = subject.of_all(
        ("spread", subject.version, *reader.key, token),
        lambda: batches.spread(reader.loaded, reader.text, token=token),
    )
    move = spreading(table, token=token, put=put)
    figure = Figure(
        f"spread-{reader.loaded.card.id.partition('?')[0]}",
        words.moves(reader.name),
        draw.spread(table, changed=token),
        words.moves_alt(reader.name),
        f"import models\nfrom inspector import batches\n\n{reader.code}"
        f"table, put = batches.spread(loaded, text, token={token})",
        table,
        sentence=words.replaced(move),
        name=f"changed-{token}-{reader.loaded.card.id}",
    )
    return figure, move


def same_place(encoding: Encoding, token: int, other: Encoding) -> int:
    """Find the token of another model on the same letters of the text; where there is none, its last word."""
    first, last = encoding.spans[token] if encoding.spans is not None else (0, 0)
    for place, (begin, end) in enumerate(other.spans or ()):
        if first < end and begin < last:
            return place
    return late_token(other.tokens, other.special)


def late_token(tokens: Sequence[str], special: Sequence[bool]) -> int:
    """Choose the last token of a text that is a word or a piece of a word; the last one where there is none."""
    places = [at for at, added in enumerate(special) if not added]
    written = [at for at in places if any(letter.isalnum() for letter in tokens[at])]
    return (written or places)[-1]


TOKEN = Token("changed", words.TO_CHANGE, lambda subject: ())
MOVED = Section("moved", "", lambda subject, **chosen: iter(()), (TOKEN,), needs_model=True, waits=words.READING)
SECTION = Section("changed", words.CHANGE, answer, about="model", needs_model=True, waits=words.READING, parts=(MOVED,))
