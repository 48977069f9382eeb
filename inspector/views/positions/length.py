"""The section Longer than trained: what a model's positions have beyond its longest text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector import positional
from inspector.readings import positions as read
from inspector.views.shell import available_models, session, widgets
from inspector.wording.english import positions as words

if TYPE_CHECKING:
    from inspector.views.positions.subject import Subject

FARTHEST = 512  # tokens back, among which T5's last bucket is looked for


def show(subject: Subject) -> None:
    """Say for each way in which the model knows positions what is there beyond its longest text."""
    st.subheader("What is there beyond the longest text?", anchor=False)
    longest, loaded = subject.loaded.max_tokens, subject.loaded
    key = (subject.name, available_models.version(subject.name))
    biases = session.cached(("far biases", *key), lambda: positional.biases(loaded, reach=FARTHEST))
    tables = list(subject.own.values())
    found = read.beyond(
        subject.ways,
        tokens=longest,
        rows=min((len(table.values) for table in tables if table.kind == "learned"), default=None),
        rotation=subject.rotations[0] if subject.rotations else None,
        biases=biases,
    )
    for said in words.beyond(found):
        st.markdown(said)
    numbers = [("Longest text here", f"{longest:,} tokens", "What the configuration and the tokenizer allow.")]
    if found.turns is not None:
        numbers.append(
            (
                "Pairs that turn whole",
                f"{(found.pairs or 0) - found.turns} of {found.pairs}",
                "Within that many tokens.",
            )
        )
    widgets.numbers(numbers)
    st.caption(
        "That a formula has a value says nothing about what a model makes of it: models are often poor at lengths that "
        "they were not trained on (Press et al. 2022). The page Lab trains two small models with the positions that "
        "you choose and tries both on texts two and four times as long."
    )
