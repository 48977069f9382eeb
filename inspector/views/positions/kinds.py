"""The section The kinds: position encodings side by side, and what each makes of one distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector import positional
from inspector.plots.theme import number
from inspector.readings import positions as read
from inspector.views.shell import session, widgets
from inspector.wording.english import positions as words

if TYPE_CHECKING:
    from inspector.views.positions.subject import Subject

HEADS = {
    "kind": "Kind",
    "here": "This model",
    "same": "At one distance",
    "others": "Between distances",
    "where": "Changes",
    "adds": "Adds",
    "learned": "Learned",
    "beyond": "Beyond its longest text",
}


def show(subject: Subject) -> None:
    """Draw the table of the kinds, with a number for each."""
    st.subheader("The kinds side by side", anchor=False)
    table = session.cached("kinds of positions", positional.side_by_side)
    st.markdown(words.sides(read.sides(table)))
    said = list(zip(*(words.KINDS[kind] for kind in table["kind"]), strict=True))
    rows = table.assign(
        **dict(zip(("kind", "where", "adds", "learned", "beyond"), said, strict=True)),
        here=["yes" if kind in subject.ways else "" for kind in table["kind"]],
    )
    widgets.table(rows[list(HEADS)], name="positions-kinds", words=HEADS)
    st.caption(
        "At one distance: how far the score of the same query and key differs by where they stand "
        f"({positional.APART} apart, {positional.POSITIONS} places, float64). Between distances: how far its mean "
        "differs from 0 to 32 tokens back. Vectors, W_Q, W_K and what is learned are random here; the formula is the "
        "kind's."
    )
    for rotation in subject.rotations:
        if len(rotation.cos) > positional.APART:
            st.caption(
                "This model's own cosines and sines, in float32: products of places "
                f"{positional.APART} apart differ by up to {number(rotation.spread(distance=positional.APART))}."
            )
    st.caption(
        "A further kind, in no model here: complex numbers, whose angle grows with the position at a pace that each "
        "token learns (Wang et al. 2020)."
    )
