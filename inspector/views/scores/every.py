"""The section Every head: a number of all layers and heads as a picture, and all numbers as a table."""

from __future__ import annotations

import streamlit as st

from inspector.readings import scores as read
from inspector.views.scores import beside
from inspector.views.scores.subject import Subject, choose_head
from inspector.views.shell import sentence, widgets
from inspector.wording.english import scores as words

PYTHON = "table = inspector.scores.measure(trace)"


def show(subject: Subject) -> None:
    """Draw the sentence, the picture of one number, and the table of all."""
    table = subject.measured()
    found = read.every(table)
    sentence.show(words.every(found), words.terms(found))
    other = beside.side_b(subject)
    against = None if other is None else (other, other.measured())
    if against is not None:
        st.markdown(f"Side B: {words.every(read.every(against[1]))}")
    seen = [name for name in words.MEASURES if not table[name].isna().all()]
    name = widgets.bar("Number of each head", seen, "measure", words=lambda one: words.MEASURES[one].name)
    measure = words.MEASURES[name]
    left, right = (st.container(), st.container()) if against else st.columns([5, 4], gap="medium")
    with left:
        subject.heads_map(
            table, name, quantity=measure.name, top=measure.top, scale=measure.scale, python=PYTHON, beside=against
        )
    with right:
        choose_head(subject)
        st.markdown(words.of_head(name, subject.row_of(table)))
        st.caption(measure.meaning)
        st.caption(words.COUNTED)
    with st.expander("All numbers of every head"):
        widgets.table(table, name="scores", height=420)
        if against is not None:
            st.markdown("Side B")
            widgets.table(against[1], name="scores-b", height=420)
