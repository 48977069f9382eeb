"""The section Dot or cosine: which keys a query ranks first, and what changes with the text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector import scores
from inspector.plots.scores import heads as draw
from inspector.readings import scores as read
from inspector.views.figures import chart
from inspector.views.scores import beside
from inspector.views.scores.subject import Subject, choose_head
from inspector.views.shell import progress, sentence, session, widgets
from inspector.wording.english import scores as words
from models import failures

if TYPE_CHECKING:
    import pandas as pd

    from inspector.interventions import FixedMixing

PYTHON = "table = inspector.scores.ranks.measure(trace, stream={stream!r})"
FIXED = "found = inspector.interventions.against_fixed(loaded, trace, stream={stream!r})"
MEASURES = {"distance": "With distance", "cosine": "With cosine", "key_spread": "Spread of key lengths"}
MOST = 1024  # tokens of a text that is read again
LONGEST = 512  # keys whose lengths are drawn


def show(subject: Subject) -> None:
    """Draw the rank correlations of all heads, the open head's key lengths, and what another text changes."""
    table = _table(subject)
    found = read.angles(table, subject.row_of(table))
    sentence.show(words.angles(found), ["q · k", "cosine", "rank correlation"])
    if found is None:
        return
    other = beside.side_b(subject)
    against = None if other is None else (other, _table(other))
    if against is not None and (second := read.angles(against[1], against[0].row_of(against[1]))) is not None:
        st.markdown(f"Side B: {words.angles(second)}")
    name = widgets.bar("Number of each head", list(MEASURES), "ranks", words=MEASURES.__getitem__)
    quantity = MEASURES[name] if name == "key_spread" else f"rank correlation {MEASURES[name].lower()}"
    top = None if name == "key_spread" else 1.0
    left, right = (st.container(), st.container()) if against else st.columns([5, 4], gap="medium")
    with left:
        subject.heads_map(table, name, quantity=quantity, top=top, python=PYTHON, beside=against)
    with right:
        choose_head(subject)
        st.markdown(words.own_angles(found))
        st.caption(
            f"Spearman's rank correlation of q · k with the cosine, and with −|q − k|, in a row over the keys that it "
            f"sees; mean over at most {scores.ranks.ROWS} queries, evenly over the text. With |q − k|² = |q|² + |k|² − "
            "2 q · k all three orders are one where all keys have one length."
        )
    keys = subject.record.key[0, :LONGEST].double().norm(dim=-1).cpu().numpy()
    st.subheader("How long each token's key is", anchor=False)
    chart.show(
        partial(draw.lengths, subject.site.keys[:LONGEST], keys),
        alt="Length of the key of each token in the open head",
        key="scores-lengths",
        python=f"{subject.python}trace.record_of_head({subject.of_record}).key[0].norm(dim=-1)",
    )
    with st.expander("All numbers of every head"):
        widgets.table(table, name="scores-ranks", height=420)
    _fixed(subject)


def _table(subject: Subject) -> pd.DataFrame:
    trace, stream = subject.trace, subject.stream

    def make() -> pd.DataFrame:
        with progress.layers("Ranking the keys") as on_progress:
            return scores.ranks.measure(trace, stream=stream, on_layer=on_progress)

    return session.cached((trace.key, "ranks", stream), make)


def _fixed(subject: Subject) -> None:
    """Say what another text changes, beside a fully connected layer over the tokens."""
    st.subheader("Beside a fully connected layer over the tokens", anchor=False)
    trace, loaded, stream = subject.trace, subject.loaded, subject.stream
    if loaded is None or stream == "cross" or len(subject.site.keys) > MOST:
        why = f"a text of at most {MOST:,} tokens" if stream != "cross" else "attention of a text to itself"
        st.caption(f"The text is read again for this: {why} and a model that is at hand are needed.")
        return

    def make() -> FixedMixing:
        from inspector import interventions

        told = failures.told("Reading the text backwards", instead="Choose another text, or another model.")
        with told, st.spinner("Reading the text backwards"):
            return interventions.against_fixed(loaded, trace, stream=stream)

    try:
        found = session.cached((trace.key, "against fixed", stream), make)
    except ValueError as error:
        st.caption(widgets.plain(f"{error}.".replace("..", ".").capitalize()))
        return
    st.markdown(words.fixed(read.fixed(found, subject.row_of(found.table))))
