"""The section Gradients: how much of a loss reaches W_Q, W_K and W_V, with the scale and without it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.interventions import gradients
from inspector.plots.scores import gradients as draw
from inspector.readings import gradients as read
from inspector.views.figures import chart
from inspector.views.scores.subject import Subject
from inspector.views.server import queue
from inspector.views.shell import progress, sentence, session, widgets
from inspector.wording.english import gradients as words
from models import failures

if TYPE_CHECKING:
    import pandas as pd

    from models import LoadedModel

SIZES: dict[read.Size, str] = {"median": "Median entry", "mean": "Mean entry"}
AT_ONCE = 128  # tokens: of as many gradients are taken without being asked for
PYTHON = """prepared = inspector.gradients.prepare(loaded, trace)
table = inspector.gradients.sweep(prepared, prepared.about.factors)"""


def show(subject: Subject) -> None:
    """Draw the gradients of a stream's layers, with the scale and without, and as scores grow."""
    loaded = session.at_hand(subject.inspected, so="no gradients can be taken")
    if not _asked(subject):
        return
    try:
        with failures.told("Taking gradients", instead="Choose another text or model."):
            about, every = session.cached((subject.trace.key, "gradients"), lambda: _taken(subject, loaded))
    except ValueError as error:
        session.show_problem(str(error).replace(loaded.card.id, loaded.card.title))
        return
    table = every[every["stream"] == subject.stream].reset_index(drop=True)
    said = st.container()
    size = widgets.bar("Which entry of a gradient", list(SIZES), "gradient_size", words=SIZES.__getitem__)
    found = read.gradients(table, about, size=size)
    with said:
        if found is None:
            st.header("W_Q or W_V is shared with another matrix here, and its gradient is that of both.", anchor=False)
        else:
            sentence.show(words.gradients(found), ["gradient", "d_k"])
    python = subject.python + PYTHON
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("By layer, with the scale and without" if about.scale != 1 else "By layer", anchor=False)
        chart.show(
            partial(draw.by_layer, table, scale=about.scale, size=size),
            alt="Size of the gradients into W_Q and W_V by layer, with the model's scale and without",
            key="gradients-by-layer",
            python=python,
        )
    with right:
        st.subheader("As the softmax saturates", anchor=False)
        chart.show(
            partial(draw.by_factor, table, scale=about.scale, size=size),
            alt="Size of the gradients into W_Q, W_K and W_V by how large the scores are",
            key="gradients-by-factor",
            python=python,
        )
    if found is not None:
        st.markdown(words.verdict(found))
    st.caption(words.scalar(about))
    with st.expander("All numbers of every head"):
        widgets.table(_named(table, about), name="gradients", height=420)


def _asked(subject: Subject) -> bool:
    """Return True for a short text, and for a long one once the button was pressed, which is drawn until then."""
    tokens, key = len(subject.trace.hidden), subject.trace.key
    asked: set[str] = st.session_state.setdefault("gradients.asked", set())
    if tokens > AT_ONCE and key not in asked:
        st.caption(
            f"{tokens:,} tokens go forward and back through a copy of the model in float64, ten times, which can take "
            "a minute."
        )
        st.button(
            "Take the gradients", icon=":material/play_arrow:", key="gradients-start", on_click=asked.add, args=(key,)
        )
        return False
    return True


def _taken(subject: Subject, loaded: LoadedModel) -> tuple[gradients.About, pd.DataFrame]:
    """Take the gradients at every factor, with a bar; the copy of the model is let go."""
    place = st.empty()
    bar = progress.Bar(place, at_once=False, stop="gradients-stop", holds=True)
    with queue.turn("Taking gradients"):
        bar.draw(0, 1, "Copying the model")
        prepared = gradients.prepare(loaded, subject.trace)
        table = gradients.sweep(
            prepared,
            prepared.about.factors,
            on_progress=lambda done, total: bar.draw(done, total, f"{done} of {total} factors on the scores"),
        )
    place.empty()
    return prepared.about, table


def _named(table: pd.DataFrame, about: gradients.About) -> pd.DataFrame:
    """Return the rows of the model's scale, of none and of 1 / d_k, a head for each, and of the whole matrices."""
    chosen = {1 / about.width: "1/d_k", 1.0: "none", about.scale: "the model's"}
    rows = table[table["factor"].isin(list(chosen))]
    return rows.assign(scale=rows["factor"].map(chosen)).drop(columns="stream")
