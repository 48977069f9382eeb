"""The model on a card of the reader's: what must fit, and how long a pass and a step take at best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from inspector.costs.card import CARDS, DeviceCard, on_card
from inspector.sections.costs import counts
from inspector.sections.picks import Count, Option
from inspector.sections.section import Block, Note, Number, Numbers, Paragraph, Section
from inspector.text import quantity
from inspector.wording import costs as words
from models import failures

if TYPE_CHECKING:
    from inspector.sections.subject import Subject

ANOTHER = "another"


def answer(subject: Subject, *, card: str, batch: int, bits: str) -> Iterator[Block]:
    """Yield what a batch of texts takes on a card, which the reader describes where it is another."""
    if card == ANOTHER:
        yield replace(OTHER, answer=partial(_other, batch=batch, size=int(bits)))
    else:
        yield from _on_card(subject, CARDS[card], batch=batch, size=int(bits))


def _other(
    subject: Subject, *, card_memory: int, card_bandwidth: int, card_peak: int, batch: int, size: int
) -> Iterator[Block]:
    peak = card_peak * 10**12
    card = DeviceCard(words.YOUR_CARD, card_memory * 10**9, card_bandwidth * 10**9, peak, peak)
    yield from _on_card(subject, card, batch=batch, size=size)


def _on_card(subject: Subject, card: DeviceCard, *, batch: int, size: int) -> Iterator[Block]:
    sizes = subject.configuration
    counted = counts.counted(subject)
    with failures.told(words.COUNTING_MODEL, instead=words.ANOTHER_MODEL):
        found = on_card(
            counted,
            counts.cache(sizes),
            card,
            tokens=sizes.tokens,
            target_tokens=sizes.target_tokens,
            batch=batch,
            element_bytes=size,
        )
    yield Paragraph(words.on_card(found, card=card.title, memory=card.memory))
    numbers = [
        Number(words.WEIGHTS, quantity(found.weights, "B"), words.CARD_WEIGHTS.format(counted.parameters, size)),
        Number(words.CACHE, quantity(found.cache, "B"), words.CACHE_MEANS),
        Number(words.READ, words.seconds(found.read), words.READ_MEANS.format(found.bound)),
    ]
    if found.step is not None and found.speed is not None:
        numbers += [
            Number(words.A_STEP, words.seconds(found.step), words.STEP_MEANS.format(found.step_bound)),
            Number(words.WRITING, f"{quantity(found.speed)} tokens/s", words.WRITING_MEANS),
        ]
    yield Numbers(tuple(numbers), of=words.AT_BEST)
    peak = card.peak32 if size == 4 else card.peak
    yield Note(words.about_card(memory=card.memory, bandwidth=card.bandwidth, peak=peak))


def _size(id: str, label: str, default: int, last: int) -> Count:
    return Count(id, label, lambda subject: last, lambda subject: default, first_value=1)


OTHER = Section(
    "another",
    "",
    _other,
    (
        _size("card_memory", words.CARD_MEMORY, 16, 10**5),
        _size("card_bandwidth", words.CARD_BANDWIDTH, 500, 10**6),
        _size("card_peak", words.CARD_PEAK, 50, 10**6),
    ),
    about="configuration",
)
TITLES = {name: card.title for name, card in CARDS.items()} | {ANOTHER: words.ANOTHER}
SECTION = Section(
    "card",
    words.CARD,
    answer,
    (
        Option("card", words.ON_CARD, lambda subject: TITLES, look="list", width=160),
        _size("batch", words.BATCH, 1, 10**6),
        Option("bits", words.BITS, lambda subject: words.BYTES),
    ),
    about="configuration",
    waits=words.COUNTING,
    parts=(OTHER,),
)
