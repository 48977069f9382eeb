"""Two readers of one text: an encoder and a decoder, the sidebar's model in its part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector import examples, sentence_vectors
from inspector.sections import names
from inspector.text import plain
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    import models
    from inspector.sections.subject import Subject

words = wording.both

ENCODERS, ENCODER_ZH, DECODER = ("minilm", "mini-bert"), "mini-bert-zh", "mini-gpt"
BEGINNING = 500  # characters of the text that are read
MOST_PARAMETERS = 300_000_000  # of a model that is run here without being asked
ENDS = ".。!！?？…"


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


def both(subject: Subject) -> tuple[tuple[Reader, Reader], list[str]]:
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
    encoder = subject.load(encoder_for(subject, english=english)) if encoder is None else encoder
    decoder = subject.load(DECODER) if decoder is None else decoder
    return (Reader(encoder, text), Reader(decoder, written)), notes


def encoder_for(subject: Subject, *, english: bool) -> str:
    """Choose the encoder of Headlight's that reads a text."""
    return subject.first_at_hand(ENCODERS) if english else ENCODER_ZH
