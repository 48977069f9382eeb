"""Understand and continue: one text in an encoder and in a decoder, and why the encoder does not write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from inspector import batches, examples, generating, masked_lm, sentence_vectors
from inspector.generating import Decoding
from inspector.plots import batches as draw_spread
from inspector.plots.tokens import both as draw
from inspector.sections import names
from inspector.sections.picks import Count, Texts
from inspector.sections.section import Block, Figure, Note, Paragraph, Row, Section, Sentence
from inspector.text import named, plain
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    import pandas as pd

    import models
    from inspector.generating import WrittenText
    from inspector.sections.subject import Subject
    from inspector.sentence_vectors import SentenceVectors

words = wording.both

ENCODER, ENCODER_ZH, DECODER = "minilm", "mini-bert-zh", "mini-gpt"
LONGEST, MOST = 400, 6  # characters and lines of the field
BEGINNING = 500  # characters of the text that are read
MOST_TOKENS = 256  # of the text, and of a sentence
MOST_PARAMETERS = 300_000_000  # of a model that is run here without being asked
NEW, FILLED = 24, 12  # tokens that are written
ENDS = ".。!！?？…"
EXAMPLES = {
    words.ENGLISH: "An exhausted kitten lay down on the rug.\nThe cat was hungry.\nA dog barked at the door.\n"
    "The bank raised its interest rates.",
    words.CHINESE: "小猫累了，躺在地毯上。\n我刚买来一本小说。\n狗在门口叫。\n今天天气很冷。",
}


@dataclass(frozen=True, eq=False)
class Reader:
    """A model and the text that it reads."""

    loaded: models.LoadedModel
    text: str

    @property
    def name(self) -> str:
        """The model within a sentence."""
        return plain(names.name(self.loaded))

    @property
    def key(self) -> tuple[str, str]:
        """The model and the text, which tell readers apart."""
        return self.loaded.card.id, self.text

    @property
    def code(self) -> str:
        """The Python lines that load the model and hold the text."""
        return f"loaded, text = models.load({self.loaded.card.id!r}), {self.text!r}\n"

    @property
    def begun(self) -> str:
        """The text without its last mark."""
        return self.text.rstrip().rstrip(ENDS) or self.text


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the part with the field in the text's language."""
    readers, notes = _readers(subject)
    english = examples.reads(DECODER, readers[0].text)
    field = FIELD if english else replace(FIELD, id="alike_zh", default=EXAMPLES[words.CHINESE])

    def read(subject: Subject, *, both_seed: int, **typed: tuple[str, ...]) -> Iterator[Block]:
        return _both(subject, readers, notes, sentences=typed[field.id][:MOST], seed=both_seed)

    yield replace(READ, answer=read, picks=(field, SEED))


def _both(
    subject: Subject, readers: tuple[Reader, Reader], notes: Sequence[str], *, sentences: tuple[str, ...], seed: int
) -> Iterator[Block]:
    """Yield the text understood and continued, and what a late token that is changed moves in each model."""
    encoder, decoder = readers
    with names.told(words.READING, instead=words.READING_INSTEAD):
        found = _vectors(subject, encoder, sentences)
        written = list(_continued(subject, decoder, seed=seed))
        changed = [_changed(subject, one) for one in readers]
        filled = _filled(subject, encoder.text)
    cosines = found.cosines("mean")[0, 1:]
    moves = (changed[0][1], changed[1][1])
    named_both = {"encoder": encoder.name, "decoder": decoder.name}
    yield Sentence(
        words.both(cosine=float(cosines.max()), same=encoder.text == decoder.text, moves=moves, **named_both),
        words.TERMS,
    )
    yield from map(Note, notes)
    yield Row((tuple(_similarities(encoder, found)), tuple(written)))
    yield Paragraph(words.why(moves=moves, **named_both))
    yield Row(tuple(figure for figure, _ in changed))
    yield Note(words.MOVED)
    if filled:
        yield Paragraph(filled)


def _readers(subject: Subject) -> tuple[tuple[Reader, Reader], list[str]]:
    """Choose the sidebar's model in its part, and one of Headlight's in the other; with what is to be said of that."""
    text, notes = subject.trace.text, []
    if len(text) > BEGINNING:
        text = text[:BEGINNING].rpartition(" ")[0] or text[:BEGINNING]
        notes.append(words.beginning(len(text)))
    english = examples.reads(DECODER, text)
    chosen = subject.loaded
    small = chosen is not None and sum(one.numel() for one in chosen.network.parameters()) <= MOST_PARAMETERS
    encoder = decoder = None
    if chosen is not None and small:
        encoder = chosen if sentence_vectors.starts_with_cls(chosen, chosen.encode("a")) else None
        decoder = chosen if chosen.shape == "decoder" and chosen.write is not None else None
    if chosen is not None and encoder is None and decoder is None:
        notes.append(words.neither(plain(chosen.card.title), small=small))
    written = text
    if decoder is None and not english:
        written = examples.of(DECODER)
        notes.append(words.ENGLISH_ALONE)
    if encoder is not None and not english and (unknown := encoder.encode(text).unknown):
        notes.append(words.not_known(plain(names.name(encoder)), unknown))
        encoder = None
    encoder = subject.load(ENCODER if english else ENCODER_ZH) if encoder is None else encoder
    decoder = subject.load(DECODER) if decoder is None else decoder
    return (Reader(encoder, text), Reader(decoder, written)), notes


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


def _similarities(one: Reader, found: SentenceVectors) -> Iterator[Block]:
    """Yield the cosine of each sentence with the text."""
    sentences = [trace.text for trace in found.traces[1:]]
    yield Figure(
        "alike-chart",
        words.understood(one.name),
        partial(draw.similarities, sentences, found.cosines("mean")[0, 1:]),
        words.ALIKE_ALT,
        "import models\nfrom inspector import sentence_vectors\n\n"
        f"{one.code}found = sentence_vectors.read(loaded, [text, *{sentences!r}])\n"
        'table = found.cosines("mean")[0, 1:]',
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


def _changed(subject: Subject, one: Reader) -> tuple[Figure, words.TokenChange]:
    """Change a late token, and draw how far each token's last hidden state moves."""
    encoding = one.loaded.encode(one.text)
    token = late_token(encoding.tokens, encoding.special)
    table, put = subject.of_all(
        ("late", subject.version, *one.key, token), lambda: batches.spread(one.loaded, one.text, token=token)
    )
    figure = Figure(
        f"late-{one.loaded.card.id}",
        "",
        draw_spread.spread(table, changed=token),
        words.moved_alt(one.loaded.card.id),
        f"import models\nfrom inspector import batches\n\n{one.code}"
        f"table, put = batches.spread(loaded, text, token={token})",
        table,
        sentence=f"**{one.name}**",
    )
    return figure, moved(table, token=token, put=put)


def moved(table: pd.DataFrame, *, token: int, put: str) -> words.TokenChange:
    """Read what a changed token moves before it; table: of `batches.spread`."""
    before = table[table["position"] < token]
    return words.TokenChange(
        changed=named(list(table["token"]), token),
        put=put,
        before=None if before.empty else float(before["change"].mean()),
        largest=0.0 if before.empty else float(before["largest"].max()),
    )


def late_token(tokens: Sequence[str], special: Sequence[bool]) -> int:
    """Choose the last token of a text that is a word or a piece of a word; the last one where there is none."""
    places = [at for at, added in enumerate(special) if not added]
    written = [at for at in places if any(letter.isalnum() for letter in tokens[at])]
    return (written or places)[-1]


def _filled(subject: Subject, text: str) -> str:
    """Say what a masked language model writes behind the text; "" where it has no room."""
    one = Reader(subject.load("mini-bert" if examples.reads("mini-bert", text) else ENCODER_ZH), text)
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
