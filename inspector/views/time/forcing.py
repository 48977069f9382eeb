"""The section Teacher forcing: one pass over a given text beside the same text step by step, as a difference."""

from __future__ import annotations

from functools import partial

import streamlit as st

from inspector.plots.theme import number
from inspector.plots.time import forcing as draw
from inspector.views.figures import chart
from inspector.views.shell import available_models, sentence, session, widgets
from inspector.views.shell.stand_in import Shown
from inspector.views.time import steps
from inspector.wording.english.time import forcing as words


def show(shown: Shown) -> None:
    """Draw the section, of a model that writes."""
    loaded, trace = shown.loaded, shown.trace
    place = st.container()
    last = steps.room(loaded, trace)
    tokens = widgets.number("Tokens read", "forced_tokens", default=min(24, last), first=1, last=last)
    try:
        found = steps.forced(loaded, trace, tokens=tokens)
    except ValueError as error:
        session.show_problem(str(error))
        return
    with place:
        name = widgets.plain(available_models.name(loaded.card.id))
        sentence.show(words.comparing(found, model=name), words.TERMS)
        if not loaded.card.trained:
            widgets.untrained()
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("Largest difference of a logit", anchor=False)
        chart.show(
            partial(draw.differences, found),
            alt="largest difference of a logit at each position",
            key="forcing-differences",
            python=f"{steps.python(loaded, trace)}stepwise.compare(loaded, trace, tokens={tokens}).table",
            table=found.table,
        )
    with right:
        st.subheader("What has to wait", anchor=False)
        st.table(words.waiting(tokens).set_index(words.WAITS))
        st.markdown(words.RNN)
    exact = [] if found.exact is None else [("In float64", number(found.exact), "The same weights, with the cache.")]
    widgets.numbers(
        [
            ("Largest difference", number(found.largest), "Of a logit, with the cache or without."),
            *exact,
            ("Likeliest token the same", f"{found.agreeing} of {tokens}", "In all three ways to read."),
            ("Steps in a row", f"1 against {tokens}", "One pass against token by token; the L layers follow in both."),
        ]
    )
    st.caption(words.about(found))
    with st.expander("Every position in numbers"):
        widgets.table(found.table, name="teacher-forcing", height=320, words=words.COLUMNS)
