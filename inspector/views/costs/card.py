"""The model on a card of the reader's: what must fit, and how long a pass and a step take at best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.costs.card import CARDS, Card, on_card
from inspector.plots.theme import quantity
from inspector.views.shell import link, session, widgets
from inspector.wording.english import costs as words
from models import failures

if TYPE_CHECKING:
    from inspector.views.costs.subject import Subject

ANOTHER = "another"
BYTES = {"2": "16 bits", "4": "32 bits", "1": "8 bits"}
MOST_BATCH = 10**6


def show(subject: Subject) -> None:
    """Draw the card, the batch, and what comes of them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = [*CARDS, ANOTHER]
        chosen = st.selectbox(
            "Card",
            names,
            format_func=_title,
            key="card",
            bind=link.bind_choice("card", default=names[0], options=names, label=_title),
            width=160,
        )
        card = CARDS[chosen] if chosen != ANOTHER else _another()
        batch = widgets.number("Texts at once", "batch", default=1, first=1, last=MOST_BATCH)
        size = widgets.bar("Bits of a number", list(BYTES), "bits", words=BYTES.__getitem__)
    try:
        with failures.told("Counting this model", instead="Choose another one."):
            counted = subject.counted()
            found = on_card(
                counted,
                subject.cache(),
                card,
                tokens=subject.tokens,
                target_tokens=subject.target_tokens,
                batch=batch,
                element_bytes=int(size),
            )
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be counted")
        return
    target = subject.lengths[1] if counted.shape == "encoder-decoder" else None
    said = words.on_card(found, tokens=subject.tokens, target_tokens=target, card=card.title, memory=card.memory)
    st.markdown(said)
    numbers = [
        ("Weights", quantity(found.weights, "B"), f"{counted.parameters:,} parameters of {size} bytes."),
        ("KV cache", quantity(found.cache, "B"), "Keys and values of all texts, at their full length."),
        ("Reading", words.seconds(found.read), f"All texts read once; {found.bound} is the limit."),
    ]
    if found.step is not None and found.speed is not None:
        numbers += [
            ("A step", words.seconds(found.step), f"A token more of every text; {found.step_bound} is the limit."),
            ("Writing", f"{quantity(found.speed)} tokens/s", "All texts together, at this length."),
        ]
    widgets.numbers(numbers, of=" at best")
    st.caption(
        f"The card: {quantity(card.memory, 'B')}, {quantity(card.bandwidth, 'B')}/s, "
        f"{quantity(card.peak32 if size == '4' else card.peak, 'FLOP')}/s in dense matrix products. Times are what the "
        "products and the bytes that are read once take at the card's full speed (roofline, Williams et al. 2009); in "
        "practice they are longer. Activations, and what several cards tell each other, come on top. Numbers of 8 "
        "bits are computed in 16."
    )


def _another() -> Card:
    memory = widgets.number("Memory, GB", "card_memory", default=16, first=1, last=10**5)
    bandwidth = widgets.number("GB/s", "card_bandwidth", default=500, first=1, last=10**6)
    peak = widgets.number("TFLOP/s", "card_peak", default=50, first=1, last=10**6)
    return Card("your card", memory * 10**9, bandwidth * 10**9, peak * 10**12, peak * 10**12)


def _title(name: str) -> str:
    return CARDS[name].title if name in CARDS else "Another card"
