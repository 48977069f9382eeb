"""Understand and continue: one text in an encoder and in a decoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from inspector import examples, generating, masked_lm, sentence_vectors
from inspector.generating import Decoding
from inspector.plots.tokens import both as draw
from inspector.sections import names
from inspector.sections.picks import Count, Texts
from inspector.sections.section import Block, Figure, Mark, Note, Paragraph, Row, Section, Sentence
from inspector.sections.tokens import readers
from inspector.sections.tokens.readers import Reader
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    import models
    from inspector.generating import WrittenText
    from inspector.sections.subject import Subject
    from inspector.sentence_vectors import SentenceVectors

words = wording.both

LONGEST, MOST = 400, 6  # characters and lines of the field
MOST_TOKENS = 256  # of the text, and of a sentence
NEW, FILLED = 24, 12  # tokens that are written
EXAMPLES = {
    words.ENGLISH: "An exhausted kitten lay down on the rug.\nThe cat was hungry.\nA dog barked at the door.\n"
    "The bank raised its interest rates.",
    words.CHINESE: "小猫累了，躺在地毯上。\n我刚买来一本小说。\n狗在门口叫。\n今天天气很冷。",
}


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the part with the field in the text's language."""
    both, notes = readers.both(subject)
    english = examples.reads(readers.DECODER, both[0].text)
    field = FIELD if english else replace(FIELD, id="alike_zh", default=EXAMPLES[words.CHINESE])

    def read(subject: Subject, *, both_seed: int, **typed: tuple[str, ...]) -> Iterator[Block]:
        return _both(subject, both, notes, sentences=typed[field.id][:MOST], seed=both_seed)

    yield replace(READ, answer=read, picks=(field, SEED))


def _both(
    subject: Subject, read_by: tuple[Reader, Reader], notes: Sequence[str], *, sentences: tuple[str, ...], seed: int
) -> Iterator[Block]:
    """Yield the text understood and continued."""
    encoder, decoder = read_by
    with names.told(words.READING, instead=words.READING_INSTEAD):
        found = _vectors(subject, encoder, sentences)
        written = list(_continued(subject, decoder, seed=seed))
        filled = _filled(subject, encoder.text)
    alike = similar(found)
    nearest = alike.loc[alike["cosine"].idxmax()]
    said = words.both(
        cosine=float(nearest["cosine"]),
        same=encoder.text == decoder.text,
        encoder=encoder.name,
        decoder=decoder.name,
    )
    yield Sentence(said, words.TERMS, (Mark("alike-chart", {"sentence": nearest["sentence"]}),))
    yield Row((tuple(_similarities(encoder, found, alike)), tuple(written)))
    yield from map(Note, notes)
    if filled:
        yield Paragraph(filled)


def _vectors(subject: Subject, one: Reader, sentences: tuple[str, ...]) -> SentenceVectors:
    """Read the text and the sentences."""
    if not sentences:
        raise ValueError(words.NO_SENTENCE)
    for text in (one.text, *sentences):
        _check(one.loaded, text)
    return subject.of_all(
        ("understood", subject.version, *one.key, sentences),
        lambda: sentence_vectors.read(one.loaded, [one.text, *sentences]),
    )


def _check(loaded: models.LoadedModel, text: str) -> None:
    if (tokens := len(loaded.encode(text))) > MOST_TOKENS:
        raise ValueError(words.too_long(tokens, MOST_TOKENS, model=loaded.card.title))


def similar(found: SentenceVectors) -> pd.DataFrame:
    """Give the cosine of each sentence with the text, which is the first."""
    sentences = [trace.text for trace in found.traces[1:]]
    return pd.DataFrame({"sentence": sentences, "cosine": found.cosines("mean")[0, 1:]})


def _similarities(one: Reader, found: SentenceVectors, alike: pd.DataFrame) -> Iterator[Block]:
    """Yield the cosine of each sentence with the text."""
    sentences = alike["sentence"].tolist()
    yield Figure(
        "alike-chart",
        words.understood(one.name),
        partial(draw.similarities, sentences, alike["cosine"].to_numpy()),
        words.ALIKE_ALT,
        "import pandas as pd\n\nimport models\nfrom inspector import sentence_vectors\n\n"
        f"{one.code}sentences = {sentences!r}\nfound = sentence_vectors.read(loaded, [text, *sentences])\n"
        'table = pd.DataFrame({"sentence": sentences, "cosine": found.cosines("mean")[0, 1:]})',
        alike,
        name=f"alike-{one.loaded.card.id}",
    )
    if found.unknown:
        yield Note(wording.vector.unknown(found.unknown, sum(len(trace.tokens) for trace in found.traces)))
    yield Note(words.POOLED)


def _continued(subject: Subject, one: Reader, *, seed: int) -> Iterator[Block]:
    """Yield the text continued with the likeliest token each time, and drawn."""
    _check(one.loaded, one.text)
    ways = {words.LIKELIEST: Decoding(), words.drawn(seed): Decoding(True, 0.8, None, 0.95, seed)}
    yield Paragraph("", words.continued(one.name))
    for name, how in ways.items():
        made = subject.of_all(("continued", subject.version, *one.key, how), partial(_write, one, how))
        begun, written = (" ".join(text.split()) for text in (one.begun, made.texts[-1]))
        yield Paragraph(words.written(name, begun=begun, made=written))
    left = one.begun != one.text.rstrip()
    code = (
        f"import models\nfrom inspector import generating\n\nloaded = models.load({one.loaded.card.id!r})\n"
        f"made = generating.write(loaded, {one.begun!r}, new_tokens={NEW})\nmade.texts[-1]"
    )
    yield Note(words.about_writing(NEW, mark_left=left, trained=one.loaded.card.trained), code=code)


def _write(one: Reader, how: Decoding) -> WrittenText:
    room = generating.prompt(one.loaded, one.begun).room
    return generating.write(one.loaded, one.begun, how=how, new_tokens=min(NEW, room))


def _filled(subject: Subject, text: str) -> str:
    """Say what a masked language model writes after the text; "" where it has no room."""
    one = Reader(subject.load("mini-bert" if examples.reads("mini-bert", text) else readers.ENCODER_ZH), text)
    if len(one.loaded.encode(one.begun)) + FILLED > one.loaded.max_tokens:
        return ""
    found = subject.of_all(
        ("filled", one.loaded.card.id, one.begun),
        lambda: masked_lm.write(one.loaded, one.begun, new_tokens=FILLED),
    )
    return words.masks(found.tokens, model=one.name)


FIELD = Texts(
    "alike",
    words.SENTENCES,
    EXAMPLES[words.ENGLISH],
    LONGEST,
    EXAMPLES,
    height=130,
    help=words.sentences_help(MOST, LONGEST),
)
SEED = Count("both_seed", words.SEED, lambda subject: 9999, lambda subject: 0, width=120)
READ = Section("read", "", lambda subject, **typed: iter(()), (FIELD, SEED))
SECTION = Section("both", words.BOTH, answer, parts=(READ,), waits=words.READING, aside=True)
