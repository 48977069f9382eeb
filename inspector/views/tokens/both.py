"""The section Understand and continue: one text in an encoder and in a decoder, and why the encoder does not write."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector import examples
from inspector.plots import batches as draw_spread
from inspector.plots.tokens import both as draw
from inspector.readings import batch as read_batch
from inspector.readings.tokens import both as read
from inspector.views.figures import chart
from inspector.views.shell import (
    available_models,
    recording_notes,
    sentence,
    session,
    widgets,
)
from inspector.views.shell.session import Inspected
from inspector.wording.english.tokens import both as words
from models import failures

if TYPE_CHECKING:
    from collections.abc import Callable

    import models
    from inspector.generating import Written
    from inspector.readings.batch import Spreading
    from inspector.sentence_vectors import Vectors

ENCODER, ENCODER_ZH, DECODER = "minilm", "mini-bert-zh", "mini-gpt"
LONGEST, MOST = 400, 6  # characters and lines of the field
BEGINNING = 500  # characters of the text that are read
MOST_TOKENS = 256  # of the text, and of a sentence
MOST_PARAMETERS = 300_000_000  # of a model that is run here without being asked
NEW, FILLED = 24, 12  # tokens that are written
ENDS = ".。!！?？…"
EXAMPLES = {
    "English": "An exhausted kitten lay down on the rug.\nThe cat was hungry.\nA dog barked at the door.\n"
    "The bank raised its interest rates.",
    "Chinese": "小猫累了，躺在地毯上。\n我刚买来一本小说。\n狗在门口叫。\n今天天气很冷。",
}
_INSTEAD = "Your text is kept: change it, or choose another model."


@dataclass(frozen=True, eq=False)
class _Read:
    """A model and the text that it reads."""

    loaded: models.LoadedModel
    text: str

    @property
    def name(self) -> str:
        return widgets.plain(available_models.name(self.loaded.card.id))

    @property
    def key(self) -> tuple[str, str, str]:
        return self.loaded.card.id, available_models.version(self.loaded.card.id), self.text

    @property
    def python(self) -> str:
        return f"loaded, text = models.load({self.loaded.card.id!r}), {self.text!r}\n"


def show(inspected: Inspected) -> None:
    """Draw the section."""
    said, told = st.container(), st.container()
    left, right = st.columns(2, gap="medium")
    try:
        with failures.told("Reading and continuing the text", instead=_INSTEAD):
            encoder, decoder = _models(inspected, told)
            with left:
                st.subheader(f"Understood by {encoder.name}", anchor=False)
                place = st.container()
                sentences = _field(english=examples.reads(DECODER, encoder.text))
                found = _vectors(encoder, sentences)
                cosines = found.cosines("mean")[0, 1:]
                with place:
                    _similarities(encoder, found)
            with right:
                st.subheader(f"Continued by {decoder.name}", anchor=False)
                _continued(decoder)
            moved = [_spread(one) for one in (encoder, decoder)]
            same = encoder.text == decoder.text
            seen = read.both(sentences, cosines, same=same, encoder=moved[0][0], decoder=moved[1][0])
            with said:
                sentence.show(words.both(seen, encoder=encoder.name, decoder=decoder.name), words.TERMS)
            st.markdown(words.why(seen, encoder=encoder.name, decoder=decoder.name))
            for one, place, (_, drawn) in zip((encoder, decoder), st.columns(2, gap="medium"), moved, strict=True):
                with place:
                    st.markdown(f"**{one.name}**")
                    drawn()
            st.caption(
                "|after − before| of a number of each token's last hidden state when one late token is changed, mean "
                "over its numbers. BERT is an encoder: every token sees all others (Devlin et al. 2019); GPT's causal "
                "mask hides what comes later (Radford et al. 2018). T5 and the translator have one of each."
            )
            _masks(encoder.text)
    except ValueError as error:
        session.show_problem(f"{str(error)[0].upper()}{str(error)[1:]}.".replace("..", "."))


def _models(inspected: Inspected, place: st.delta_generator.DeltaGenerator) -> tuple[_Read, _Read]:
    """The sidebar's model in its part, and one of Headlight's in the other; what stands in is said."""
    from inspector import sentence_vectors

    text = inspected.trace.text
    if len(text) > BEGINNING:
        text = text[:BEGINNING].rpartition(" ")[0] or text[:BEGINNING]
        with place:
            st.caption(f"The first {len(text)} characters of your text are read here.")
    english = examples.reads(DECODER, text)
    chosen = None if inspected.model is None else session.load(inspected.model)
    small = chosen is not None and sum(one.numel() for one in chosen.network.parameters()) <= MOST_PARAMETERS
    encoder = decoder = None
    if chosen is not None and small:
        encoder = chosen if sentence_vectors.starts_with_cls(chosen, chosen.encode("a")) else None
        decoder = chosen if chosen.shape == "decoder" and chosen.write is not None else None
    written = text
    with place:
        if chosen is not None and encoder is None and decoder is None:
            title = widgets.plain(available_models.title(chosen.card.id))
            which = (
                "is too large to be run here unasked" if not small else "is neither an encoder with [CLS] nor a decoder"
            )
            st.caption(f"{title} {which}, so two other models are shown.")
        if decoder is None and not english:
            written = examples.of(DECODER)
            st.info(
                "mini-gpt has learned English alone, and the translator goes from English to Chinese: no model of "
                "Headlight continues this text. mini-gpt continues its own example."
            )
        if encoder is not None and not english and (unknown := encoder.encode(text).unknown):
            title = widgets.plain(available_models.name(encoder.card.id))
            st.caption(f"{title} does not know {unknown} tokens of this text, so mini-BERT for Chinese reads it.")
            encoder = None
    encoder = session.load(ENCODER if english else ENCODER_ZH) if encoder is None else encoder
    return _Read(encoder, text), _Read(session.load(DECODER) if decoder is None else decoder, written)


def _field(*, english: bool) -> tuple[str, ...]:
    """Take the sentences that the text is compared with, a line each; a Chinese text has a field of its own."""
    key, first = ("alike", EXAMPLES["English"]) if english else ("alike_zh", EXAMPLES["Chinese"])
    typed = widgets.text_with_examples(
        "Sentences to compare, one a line",
        key,
        examples=EXAMPLES,
        default=first,
        most=LONGEST,
        height=130,
        help=f"{MOST} lines and {LONGEST} characters at most.",
    )
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if not lines:
        raise ValueError("there is no sentence to compare with; write one a line")
    return tuple(lines[:MOST])


def _vectors(one: _Read, sentences: tuple[str, ...]) -> Vectors:
    from inspector import sentence_vectors

    def make() -> Vectors:
        with st.spinner("Reading the sentences"):
            return sentence_vectors.read(one.loaded, [one.text, *sentences])

    for text in (one.text, *sentences):
        _check(one.loaded, text)
    return session.cached(("understood", *one.key, sentences), make)


def _check(loaded: models.LoadedModel, text: str) -> None:
    tokens = len(loaded.encode(text))
    if tokens > MOST_TOKENS:
        raise ValueError(
            f"a text has {tokens:,} tokens in {loaded.card.title}, and {MOST_TOKENS} are read here at most: shorten it"
        )


def _similarities(one: _Read, found: Vectors) -> None:
    sentences = [trace.text for trace in found.traces[1:]]
    chart.show(
        partial(draw.similarities, sentences, found.cosines("mean")[0, 1:]),
        alt="cosine of each sentence with the text",
        key="alike-chart",
        name=f"alike-{one.loaded.card.id}",
        python="import models\nfrom inspector import sentence_vectors\n\n"
        f'{one.python}found = sentence_vectors.read(loaded, [text, *{sentences!r}])\nfound.cosines("mean")[0, 1:]',
    )
    if found.unknown:
        total = sum(len(trace.tokens) for trace in found.traces)
        st.caption(recording_notes.unknown_in_words(found.unknown, of=total) + " mini-BERT for Chinese knows 中文.")
    st.caption("Cosine of the means of all last hidden states, as sentence-transformers pools.")


def _continued(one: _Read) -> None:
    """Continue the text, with the likeliest token each time, and drawn."""
    from inspector.generating import Decoding

    _check(one.loaded, one.text)
    begun = one.text.rstrip().rstrip(ENDS) or one.text
    seed = widgets.number("Seed", "both_seed", default=0, last=9999, width=120)
    ways = {"Likeliest": Decoding(), f"Drawn, seed {seed}": Decoding(True, 0.8, None, 0.95, seed)}
    for name, how in ways.items():
        made = session.cached(("continued", *one.key, how), partial(_write, one.loaded, begun, how))
        written = " ".join(made.texts[-1].split())
        st.markdown(f"{name}  \n:gray[{widgets.plain(' '.join(begun.split()))}] **{widgets.plain(written)}**")
    left = " The text's last mark is left off, for after it the model may end." if begun != one.text.rstrip() else ""
    untrained = "" if one.loaded.card.trained else " Untrained: its weights are random."
    st.caption(
        f"At most {NEW} new tokens. Drawn: temperature 0.8, of the fewest tokens that hold 95 % (Holtzman et al. "
        f"2020).{left}{untrained}"
    )
    with st.popover("Python", type=widgets.quiet_button()):
        widgets.python(
            f"import models\nfrom inspector import generating\n\nloaded = models.load({one.loaded.card.id!r})\n"
            f"made = generating.write(loaded, {begun!r}, new_tokens={NEW})\nmade.texts[-1]"
        )


def _write(loaded: models.LoadedModel, text: str, how: object) -> Written:
    from inspector import generating

    assert isinstance(how, generating.Decoding)
    room = generating.prompt(loaded, text).room
    with st.spinner("Continuing the text"):
        return generating.write(loaded, text, how=how, new_tokens=min(NEW, room))


def _spread(one: _Read) -> tuple[Spreading, Callable[[], None]]:
    """Change a late token; what moves, and how to draw it."""
    from inspector import batches

    encoding = one.loaded.encode(one.text)
    token = read.late_token(encoding.tokens, encoding.special)
    table, put = session.cached(("late", *one.key, token), lambda: batches.spread(one.loaded, one.text, token=token))

    def drawn() -> None:
        chart.show(
            partial(draw_spread.spread, table, changed=token),
            alt=f"how far each token's last hidden state moves in {one.loaded.card.id}",
            key=f"late-{one.loaded.card.id}",
            python="import models\nfrom inspector import batches\n\n"
            f"{one.python}table, put = batches.spread(loaded, text, token={token})",
            table=table,
        )

    return read_batch.spreading(table, token=token, put=put), drawn


def _masks(text: str) -> None:
    """Have a masked language model write behind the text."""
    from inspector import masked_lm

    loaded = session.load("mini-bert" if examples.reads("mini-bert", text) else "mini-bert-zh")
    begun = text.rstrip().rstrip(ENDS) or text
    if len(loaded.encode(begun)) + FILLED > loaded.max_tokens:
        return
    found = session.cached(("filled", loaded.card.id, begun), lambda: masked_lm.write(loaded, begun, new_tokens=FILLED))
    st.markdown(words.masks(found.tokens, model=widgets.plain(available_models.name(loaded.card.id))))
