"""The section By distance: what depends on how far apart two tokens stand, and what on where they stand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from inspector import positional
from inspector.plots import positional as draw
from inspector.plots.theme import number
from inspector.readings import positions as read
from inspector.views.figures import chart, matrix
from inspector.views.positions.subject import PAPER
from inspector.views.shell import available_models, session, widgets
from inspector.wording.english import positions as words

if TYPE_CHECKING:
    from inspector.views.positions.subject import Subject

REACH = 24  # tokens either way of the heads' attention
STEP = 8  # tokens of the turn that is tried
MEASURES = {"cosine": "Cosine", "dot": "Dot product"}


def show(subject: Subject) -> None:
    """Draw attention by distance, products of positions before and after a head's matrices, and the turn by k."""
    _attention(subject)
    _products(subject)
    _turn(subject)


def _attention(subject: Subject) -> None:
    st.subheader("Where the heads look, by distance", anchor=False)
    reach = max(min(REACH, len(subject.tokens) - 1), 1)
    stream = subject.stream
    heads, found = session.cached(
        (subject.trace.key, "attention by distance", stream, reach),
        lambda: positional.attention_by_distance(subject.trace, stream=stream, reach=reach),
    )
    apart, kept = np.arange(-reach, reach + 1), ~np.isnan(found).all(axis=0)
    if stream == "decoder":
        kept &= apart <= 0
    st.markdown(words.looks(read.looks(found[:, kept], apart[kept], heads)))
    st.caption(
        "The weight to the key at each distance, mean over the queries that have a token there; 1.4 is layer 1, head 4."
    )
    matrix.show(
        matrix.Panel(
            np.nan_to_num(found[:, kept]),
            rows=tuple(f"{layer}.{head}" for layer, head in heads),
            columns=tuple(f"{k:+d}" if k else "0" for k in apart[kept]),
        ),
        row_title="head",
        column_title="key's position less query's",
        quantity="mean weight",
        numbered="neither",
        name=f"{subject.name}-attention-by-distance",
        key="by-distance",
        python=f"{subject.recorded}heads, mean = inspector.positional.attention_by_distance("
        f"trace, stream={stream!r}, reach={reach})",
    )


def _products(subject: Subject) -> None:
    st.subheader("Products of two positions, by distance", anchor=False)
    left, right = st.columns(2, gap="medium")
    with left:
        measure = widgets.bar("Measure", list(MEASURES), "measure", words=MEASURES.__getitem__)
        quantity = "cosine" if measure == "cosine" else "dot product"

        def rows(table: draw.Table) -> pd.DataFrame:
            if measure == "cosine":
                return positional.similarity_by_distance(table)
            found = positional.by_distance(positional.similarity(table, measure="dot"))
            return found[found["distance"] >= 0].reset_index(drop=True)

        key = (subject.name, available_models.version(subject.name), measure)
        by_distance = {
            named: session.cached(("positions", *key, named, table.shape), partial(rows, table))
            for named, table in subject.tables.items()
        }
        chart.show(
            partial(draw.similarity_by_distance, by_distance, quantity=quantity),
            alt=f"mean {quantity} of positions against their distance",
            key="similarity",
            name=f"{subject.name}-similarity",
            python=f"{subject.python}table = inspector.positional.tables(loaded)[0].values\n"
            "rows = inspector.positional.similarity_by_distance(table)",
        )
        st.caption(
            "All positions, before any matrix, the same in both directions. The sinusoidal encoding knows distance "
            f"alone, so its band is a line; a learned table may also know where it is.{_first_rise(by_distance[PAPER])}"
        )
        with st.expander("All numbers"):
            table = pd.concat(by_distance, names=["table"]).reset_index(level="table")
            widgets.table(table, name="positions", height=320)
    with right:
        try:
            split = subject.split()
        except ValueError as error:
            session.show_problem(f"After W_Q and W_K there is nothing to show: {error}.", what="Not for this model")
            return
        head = widgets.number("Head of layer 0", "split_head", default=0, last=split.heads - 1)
        own = positional.by_distance(split.terms(head)["position-position"])
        sides = float(np.abs(own["mean"].to_numpy() - own["mean"].to_numpy()[::-1]).max())
        spread = float(np.sqrt((own["std"] ** 2 * own["count"]).sum() / own["count"].sum()))
        chart.show(
            partial(draw.similarity_by_distance, {f"layer 0, head {head}": own}, quantity="part of the score"),
            alt="what two positions alone give to a score of this head, by their distance",
            key="after",
            name=f"{subject.name}-position-position",
            python=f"{subject.recorded}split = inspector.interventions.split_scores(loaded, trace)\n"
            f"rows = inspector.positional.by_distance(split.terms({head})['position-position'])",
        )
        st.caption(
            "After this head's W_Q and W_K, on this text: the position-position part of the scores. Between a distance "
            f"back and the same ahead its mean differs by up to {number(sides)}, and at one distance the part differs "
            f"by {number(spread)} (standard deviation), by where the two tokens stand."
        )


def _first_rise(rows: pd.DataFrame) -> str:
    """Say at which distance the paper's products rise for the first time; "" where they never do."""
    rises = np.flatnonzero(np.diff(rows["mean"].to_numpy()) > 1e-9)
    return f" The paper's falls up to distance {rises[0]}, and then rises for the first time." if len(rises) else ""


def _turn(subject: Subject) -> None:
    st.subheader(f"Is the step from p to p + {STEP} one turn for every p?", anchor=False)
    numbers = []
    for named, table in subject.tables.items():
        if len(table) <= 4 * STEP:
            continue
        residual = positional.shift_residual(table, distance=STEP)
        fitted, held_out = positional.fitted_shift(table, distance=STEP)
        turned = "no pairs of sine and cosine" if residual is None else f"misses by {number(residual)}"
        numbers += [
            (
                f"{named.capitalize()}: one turn",
                turned,
                "Largest miss over all rows, of the largest entry, in float64.",
            ),
            (
                "a matrix fitted by least squares",
                f"{number(fitted)} where it was fitted, {number(held_out)} where it was not",
                "Fitted to the first half of the positions, tried on the second: root mean square of the miss.",
            ),
        ]
    for rotation in subject.rotations:
        if len(rotation.cos) > STEP:
            differs = number(rotation.spread(distance=STEP))
            numbers.append(
                ("RoPE's product", f"differs by {differs}", f"Over all pairs of positions {STEP} apart, of length 1.")
            )
    if not numbers:
        st.text("This model has too few positions to try it.")
        return
    for name, value, meaning in numbers:
        widgets.numbers([(name, value, meaning)])
    st.caption(
        r"$PE(p + k) = M_k\,PE(p)$: $M_k$ turns the pair (sin $wp$, cos $wp$) by the angle $kw$, the same for every "
        "$p$ (Vaswani et al. 2017, 3.5). It is built from the frequencies; a fit finds some matrix that need not hold "
        "beyond the rows it saw."
    )
