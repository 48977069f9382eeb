"""The section Longer than trained: what a model's positions have beyond its longest text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector import positional
from inspector.plots import positional as draw
from inspector.readings import positions as read
from inspector.views.figures import chart
from inspector.views.shell import available_models, session, widgets
from inspector.wording.english import positions as words

if TYPE_CHECKING:
    from inspector.views.positions.subject import Subject

FARTHEST = 512  # tokens back, among which the last bucket and the last vector are looked for


def show(subject: Subject) -> None:
    """Say for each way in which the model knows positions what is there beyond its longest text."""
    st.subheader("What is there beyond the longest text?", anchor=False)
    longest, loaded = subject.loaded.max_tokens, subject.loaded
    key = (subject.name, available_models.version(subject.name))
    biases = session.cached(("far biases", *key), lambda: positional.biases(loaded, reach=FARTHEST))
    vectors = session.cached(("far vectors", *key), lambda: positional.vectors(loaded, reach=FARTHEST))
    tables = list(subject.own.values())
    found = read.beyond(
        subject.ways,
        tokens=longest,
        rows=min((len(table.values) for table in tables if table.kind == "learned"), default=None),
        rotation=subject.rotations[0] if subject.rotations else None,
        biases=biases,
        vectors=vectors,
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
    _longer(subject)
    st.caption(
        "That a formula has a value says nothing about what a model makes of it: models are often poor at lengths that "
        "they were not trained on (Press et al. 2022). The page Lab trains two small models with the positions that "
        "you choose and tries both on texts two and four times as long."
    )


def _longer(subject: Subject) -> None:
    """Read a passage beyond the longest text, at once and in windows, where the model can be run so."""
    loaded = subject.loaded
    key = ("beyond", subject.name, available_models.version(subject.name))
    try:
        table = session.cached(key, lambda: positional.longer(loaded))
    except ValueError as error:
        st.caption(widgets.plain(f"Not measured on a longer text: {error}. Try mini-gpt."))
        return
    st.markdown(words.longer(read.longer(table, longest=loaded.max_tokens)))
    position = table["position"].to_numpy()
    curves = {"at once": (position, table["at_once"].to_numpy())}
    curves["in windows that fit"] = (position, table["in_windows"].to_numpy())
    chart.show(
        partial(draw.lines, curves, axes=("position", "bits a token"), title="What a token costs, by its position"),
        alt="bits a token by its position, read at once and in windows that fit",
        key="longer",
        name=f"{subject.name}-longer",
        python=f"{subject.python}table = inspector.positional.longer(loaded)",
        table=table,
    )
    st.caption(
        "The passage: after Lewis Carroll, Alice's Adventures in Wonderland (1865). Windows overlap by half, so that a "
        f"token beyond has at least {loaded.max_tokens // 2} before it; read at once it has all."
    )
