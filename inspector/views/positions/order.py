"""The section Does it matter: the text in another order, what a position does to a token, and the four-term split."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector import interventions
from inspector.interventions import ORDERS, PARTS
from inspector.plots import positional as draw
from inspector.plots.theme import number
from inspector.readings import positions as read
from inspector.views.figures import chart, matrix
from inspector.views.shell import session, widgets
from inspector.wording import token
from inspector.wording.english import positions as words
from models import failures

if TYPE_CHECKING:
    from inspector.interventions import Order, Reordered
    from inspector.views.positions.subject import Subject

NAMES: dict[Order, str] = {"reverse": "Backwards", "shuffle": "Shuffled", "shift": "All later"}
MOST = 1024  # tokens of a text that is read again


def show(subject: Subject) -> None:
    """Draw the change by another order, the change by adding the position, and the split of the first scores."""
    _order(subject)
    _steps(subject)
    _split(subject)


def _order(subject: Subject) -> None:
    st.subheader("The same tokens in another order", anchor=False)
    order = widgets.bar("Order", list(ORDERS), "order", words=NAMES.__getitem__)
    if len(subject.tokens) > MOST:
        st.text(f"The text is read three times more for this, so it may have {MOST:,} tokens at most.")
        return

    def make() -> Reordered:
        told = failures.told("Reading the text in another order", instead="Choose another text, or another model.")
        with told, st.spinner("Reading the text in another order"):
            return interventions.reorder(subject.loaded, subject.trace, order)

    try:
        found = session.cached((subject.trace.key, "order", order), make)
    except ValueError as error:
        session.show_problem(f"{error}.".replace("..", "."), what="Nothing to compare")
        return
    causal = subject.loaded.shape == "decoder"
    st.markdown(words.ordered(read.ordered(found, order=order, causal=causal, ways=subject.ways)))
    bars = {"with positions": 100 * found.changed}
    if found.without is not None:
        bars["without positions"] = 100 * found.without
    chart.show(
        partial(
            draw.by_token, subject.tokens, bars, quantity="change (%)", title="Change of each token's last hidden state"
        ),
        alt="change of each token's last hidden state by the order, with positions and without",
        key="order-chart",
        name=f"{subject.name}-{order}",
        python=f"{subject.recorded}found = inspector.interventions.reorder(loaded, trace, {order!r})",
    )
    stack = " of the encoder" if subject.loaded.shape == "encoder-decoder" else ""
    read_as = " ".join(token(subject.tokens[place]) for place in found.order[:60])
    more = " …" if len(found.order) > 60 else ""
    shuffled = "" if order == "shift" else f" Read: {read_as}{more}."
    st.caption(
        f"Each token's last hidden state{stack} is compared with its own before: |after − before| / |before|.{shuffled}"
    )


def _steps(subject: Subject) -> None:
    """Say what positions make possible: a text that is read at once."""
    st.subheader("In place of recurrence", anchor=False)
    if len(subject.tokens) > MOST:
        st.text(f"The pairs of a text of at most {MOST:,} tokens are counted.")
        return
    found = session.cached(
        (subject.trace.key, "steps", subject.stream), lambda: read.steps(subject.trace, stream=subject.stream)
    )
    st.markdown(words.steps(found))
    st.caption(
        "A recurrent network knows the order by reading in order; attention alone does not: positions tell it, or a "
        "causal mask. Steps and paths: Vaswani et al. 2017, table 1."
    )


def _split(subject: Subject) -> None:
    st.subheader("Does adding a position disturb the token's vector?", anchor=False)
    try:
        split = subject.split()
    except ValueError as error:
        session.show_problem(f"Here {error}.", what="Not for this model")
        return
    content, position = split.lengths
    st.markdown(words.moved(read.moved(split)))
    tokens = subject.tokens
    chart.show(
        partial(
            draw.by_token,
            tokens,
            {"the position's row": position, "the token's vector": content},
            quantity="length",
            title="Length of what is added up",
        ),
        alt="length of each token's vector without its position, and of its position's row",
        key="moved",
        name=f"{subject.name}-moved",
        python=f"{subject.recorded}split = inspector.interventions.split_scores(loaded, trace)\n"
        "split.lengths, split.cosines",
    )
    st.subheader("The scores of layer 0 as a sum of four", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        head = widgets.number("Head of layer 0", "split_head", default=0, last=split.heads - 1)
        part = widgets.bar("Term", list(PARTS), "term", words=str.capitalize)
    causal = split.stream == "decoder"
    terms, shares = split.terms(head), read.shares(split, head, causal=causal)
    whole = np.sum(list(terms.values()), axis=0)
    scores = subject.trace.scores(layer=0, head=head, stream=split.stream)
    seen = np.isfinite(scores)
    missed = float(np.abs(np.where(seen, whole - np.where(seen, scores, 0), 0)).max())
    st.markdown(words.shares(shares, head=head))
    drawn = {part.capitalize(): terms[part], "Their sum, the score": whole}
    matrix.show(
        *(
            matrix.Panel(np.where(seen, one, 0), rows=tokens, columns=tokens, title=title)
            for title, one in drawn.items()
        ),
        row_title="query",
        column_title="key",
        quantity="part of the score",
        diverging=True,
        name=f"{subject.name}-{part}",
        key="four",
        python=f"{subject.recorded}split = inspector.interventions.split_scores(loaded, trace)\n"
        f"split.terms({head})[{part!r}]",
    )
    st.caption(
        "A query is content W_Q + position W_Q, a key likewise, so a score is a sum of four products (Ke et al. 2021). "
        "The norm between is applied with each token's own deviation; biases and segments belong to the content. Their "
        f"sum differs from the recorded scores by {number(missed)} at most."
    )
