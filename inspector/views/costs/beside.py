"""Up to four models in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector import costs
from inspector.readings import costs as read
from inspector.views.costs import subject as subjects
from inspector.views.shell import link, session, widgets
from models import failures

if TYPE_CHECKING:
    from inspector.views.costs.subject import Subject

MOST = 3  # shapes beside the model that the page shows
HEADS = {
    "model": "Model",
    "parameters": "Parameters",
    "flops": "FLOPs",
    "attention": "Attention's share",
    "core": "Scores and mix = FFN",
    "sublayer": "Attention = FFN",
    "cache_bytes": "KV cache, B a token",
}
WITH = ("bert-base", "llama-2-7b")


def show(subject: Subject) -> None:
    """Draw the choice and the table."""
    st.subheader(f"Models side by side at {subject.tokens:,} tokens")
    names = list(costs.SHELF)
    chosen, key = link.words("beside", allowed=names) or WITH, "beside-shapes"
    st.session_state[key] = list(chosen)

    def keep() -> None:
        if len(st.session_state[key]) <= MOST:  # a chip too many is not taken
            link.assign("beside", tuple(st.session_state[key]))

    st.pills(
        f"Beside it, at most {MOST}",
        names,
        selection_mode="multi",
        format_func=lambda name: costs.SHELF[name].title,
        key=key,
        on_change=keep,
    )
    link.publish()
    try:
        entries = [(subject.title, subject.counted(), subject.cache())]
        for name in chosen:
            with st.spinner(f"Counting {costs.SHELF[name].title}"):
                other = subjects.of_shape(name, tokens=subject.tokens)
                entries.append((other.title, other.counted(), other.cache()))
        with failures.told("Comparing", instead="Choose other shapes."):
            table = read.beside(entries, tokens=subject.tokens)
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be counted")
        return
    widgets.table(table, name="models", words=HEADS)
    st.caption(
        "FLOPs of one forward's matrix products, with the experts that a token chooses; parameters of all. The two "
        "lengths, in tokens, are those at which scores and mix alone, and all of attention, cost as much as the FFN in "
        "the first stream. KV cache of 2-byte numbers."
    )
