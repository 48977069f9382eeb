"""The section Queries and keys: are scores and weights symmetric, and what matrix compares two tokens?"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from inspector import scores
from inspector.plots.scores import heads as draw
from inspector.readings import scores as read
from inspector.scores import Projections, Spectrum
from inspector.views.figures import chart, matrix
from inspector.views.scores import beside
from inspector.views.scores.subject import Subject, choose_head
from inspector.views.shell import available_models, progress, sentence, session, widgets
from inspector.wording.english import scores as words

SHOWN = 512  # tokens of a longer text whose maps are drawn
PYTHON = "table = inspector.scores.symmetry.measure(trace, stream={stream!r})"
SPECTRUM = """blocks = inspector.record_blocks(loaded, trace)
found = inspector.scores.projections(trace, blocks, loaded.network, layer={layer}, stream={stream!r})
spectrum = inspector.scores.of_product(found.query[{head}], found.key[{head}])"""


def show(subject: Subject) -> None:
    """Draw the sentence, S beside A, the spectrum, and all heads."""
    place = st.container()
    choose_head(subject)
    if subject.stream == "cross":
        with place:
            session.show_problem(
                "Queries and keys of cross-attention are two texts, so its scores have no other direction to compare. "
                "Choose another stream."
            )
        return
    other = beside.side_b(subject)
    told = _sides(subject)
    with place:
        sentence.show(words.sides(told), ["asymmetry", "scores", "attention"])
        if other is not None:
            st.markdown(f"Side B: {words.sides(_sides(other))}")
    _maps(subject, other)
    _spectrum(subject, other)
    _every(subject, other)


def _table(subject: Subject) -> pd.DataFrame:
    trace, stream = subject.trace, subject.stream

    def make() -> pd.DataFrame:
        with progress.layers("Comparing both directions") as on_progress:
            return scores.symmetry.measure(trace, stream=stream, on_layer=on_progress)

    return session.cached((trace.key, "symmetry", stream), make)


def _sides(subject: Subject) -> read.Sides:
    return read.sides(subject.row_of(_table(subject)), causal=subject.causal)


def _maps(subject: Subject, other: Subject | None) -> None:
    """Draw S, before mask and scale, beside A; with a side B its two below."""
    named = [(subject, "" if other is None else "Side A: ")] + ([] if other is None else [(other, "Side B: ")])
    for one, side in named:
        tokens = one.site.keys[:SHOWN]
        count = len(tokens)
        record = one.record
        key = "scores" if one is subject else "scores-b"
        left, right = st.columns(2, gap="medium")
        if record.query.shape[-1]:
            with left:
                st.subheader(
                    f"{side}Scores S = Q Kᵀ, before scale and mask"
                    if not side
                    else f"{side}scores S, before scale and mask",
                    anchor=False,
                )
                matrix.show(
                    matrix.Panel(scores.symmetry.product(record, most=count), rows=tokens, columns=tokens),
                    row_title="query",
                    column_title="key",
                    quantity="q · k",
                    diverging=True,
                    name=f"{key}-s",
                    key=f"{key}-s",
                    python=f"{one.python}inspector.scores.symmetry.product(trace.record_of_head({one.of_record}))",
                )
        with right:
            st.subheader(f"{side}weights A" if side else "Weights A", anchor=False)
            matrix.show(
                matrix.Panel(_weights(one, count), rows=tokens, columns=tokens),
                row_title="query",
                column_title="key",
                name=f"{key}-a",
                key=f"{key}-a",
                python=f"{one.python}trace.attention({one.of_head})",
            )
    first = f"The first {SHOWN} of {len(subject.site.keys):,} tokens. " if len(subject.site.keys) > SHOWN else ""
    st.caption(
        f"{first}Asymmetry is ‖M − Mᵀ‖ / ‖M‖: 0 for a symmetric matrix, 1.41 where the two directions have nothing in "
        "common. S is without the mask and the bias; A is as it is."
    )


def _weights(subject: Subject, count: int) -> np.ndarray:
    site = subject.site
    part = slice(0, count)
    return subject.trace.window(
        layer=site.layer, head=subject.head, stream=subject.stream, call=site.call, queries=part, keys=part
    )


def _spectrum(subject: Subject, other: Subject | None) -> None:
    """Draw the singular values of W_Q W_K^T, and say what they mean."""
    st.subheader("W_Q W_Kᵀ, the matrix that compares two tokens", anchor=False)
    spectra, told = {}, {}
    for one, side in ((subject, "Side A"), (other, "Side B")):
        if one is None:
            continue
        try:
            found, spectrum = _projected(one)
        except ValueError as error:
            prefix = "" if other is None else f"{side}: "
            said = str(error).replace(one.trace.model, available_models.title(one.trace.model))
            st.caption(widgets.plain(f"{prefix}{said}.".replace("..", ".")))
            continue
        spectra[side] = spectrum.values
        record = one.record
        on_text = scores.of_product(record.query[0], record.key[0])
        told[side] = read.product(found, spectrum, on_text, head=one.head, tokens=len(one.site.keys))
    if not told:
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        chart.show(
            partial(draw.spectrum, spectra),
            alt="Singular values of the head's W_Q W_K transposed, the largest first",
            key="scores-spectrum",
            python=subject.python + SPECTRUM.format(layer=subject.site.layer, stream=subject.stream, head=subject.head),
        )
    with right:
        for side, one_side in told.items():
            st.markdown((f"{side}: " if other is not None else "") + words.product(one_side))


def _projected(subject: Subject) -> tuple[Projections, Spectrum]:
    """W_Q and W_K of the open layer, and the spectrum of the open head; ValueError where they are not found."""
    loaded, trace, site = subject.loaded, subject.trace, subject.site
    if loaded is None:
        raise ValueError("the model of this saved trace is not at hand, and W_Q and W_K are its parameters")
    if site.call:
        raise ValueError("the layer attends more than once, and which matrices belong to which is not told apart")

    def made() -> tuple[Projections, Spectrum]:
        from inspector import probe

        with st.spinner("Reading the layers"):
            blocks = session.cached((trace.key, "blocks"), lambda: probe.record_blocks(loaded, trace))
        found = scores.projections(trace, blocks, loaded.network, layer=site.layer, stream=subject.stream)
        return found, scores.of_product(found.query[subject.head], found.key[subject.head])

    return session.cached((trace.key, "W_Q W_K", subject.stream, subject.row, subject.head), made)


def _every(subject: Subject, other: Subject | None) -> None:
    """Draw the asymmetry of all heads, and the table."""
    table = _table(subject)
    st.subheader("All heads", anchor=False)
    shown = [("scores", "Asymmetry of S"), ("weights", "Asymmetry of A"), ("diagonal", "Weight on the diagonal")]
    known = dict(one for one in shown if not table[one[0]].isna().all())
    name = widgets.bar("Number of each head", list(known), "symmetry", words=known.__getitem__)
    against = None if other is None else (other, _table(other))
    top = 1.0 if name == "diagonal" else 2.0
    subject.heads_map(table, name, quantity=known[name], top=top, python=PYTHON, beside=against)
    with st.expander("All numbers of every head"):
        widgets.table(table, name="scores-symmetry", height=420)
