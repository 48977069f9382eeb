"""The section Theory: random queries and keys of every width, with the scale and without, and the notes' example."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from inspector.plots.scores import theory as draw
from inspector.plots.theme import number
from inspector.readings import score_theory as read
from inspector.scores import theory
from inspector.views.figures import chart
from inspector.views.scores.subject import Subject
from inspector.views.shell import sentence, session, widgets
from inspector.wording.english import score_theory as words

ENTRIES: dict[theory.Entries, str] = {"normal": "Normal entries", "uniform": "Uniform entries"}
ALT = "By d_k from 4 to 4,096, without the scale and with it: "
PYTHON = """import inspector

table = inspector.scores.theory.drawn(keys={keys}, entries={entries!r}, seed={seed}, widths={widths})"""
EXAMPLE = """import inspector

inspector.scores.theory.example(keys={keys}, width={width}, sigmas={sigmas})"""


def show(subject: Subject) -> None:
    """Draw the curves of random queries and keys, what they settle, and the example to fill in."""
    said = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        keys = widgets.number("Keys", "theory_keys", default=64, first=2, last=theory.MOST_KEYS)
        seed = widgets.number("Seed", "theory_seed", default=0, last=9999)
        entries = widgets.bar("Entries of q and k", list(ENTRIES), "theory_entries", words=ENTRIES.__getitem__)
    own = tuple(sorted({record.query.shape[-1] for record in subject.trace.attentions} - {0}))[:3]
    widths = tuple(sorted({*theory.WIDTHS, *own}))
    table = session.cached(
        ("score theory", keys, entries, seed, widths),
        lambda: theory.drawn(keys=keys, entries=entries, seed=seed, widths=widths),
    )
    itself = session.cached(
        ("score theory itself", keys, seed),
        lambda: {width: theory.itself(keys=keys, width=width, seed=seed) for width in (16, 512)},
    )
    found = read.drawn(table, keys=keys, entries=entries, own=own, itself=itself)
    with said:
        sentence.show(words.drawn(found), ["d_k", "softmax Jacobian"])
    python = PYTHON.format(keys=keys, entries=entries, seed=seed, widths=widths)

    def curves(quantity: draw.Quantity, heading: str, alt: str) -> None:
        st.subheader(heading, anchor=False)
        chart.show(
            partial(draw.curves, table, quantity, entries=entries, own=own),
            alt=ALT + alt,
            key=f"theory-{quantity}",
            python=python,
            table=table,
        )

    left, right = st.columns(2, gap="medium")
    with left:
        curves("jacobian", "How far a row moves with its scores", "median and mean norm of the softmax's Jacobian")
    with right:
        curves("gradient", "How far it moves with its query", "median and mean norm of the weights' derivative")
    st.caption(
        r"$J_{ij} = p_i(\delta_{ij} - p_j)$, $\|J\|^2 = \sum_i p_i^2(1-p_i)^2 + \sum_{i \ne j} p_i^2 p_j^2$, and "
        r"$\partial p / \partial q = s\,J K$ with the scale $s = 1/\sqrt{d_k}$ or 1. Frobenius norms of each row, "
        "solid their median, dashed their mean; no unit. Independent entries of mean 0 and variance 1, drawn from the "
        "seed; no model and no text."
    )
    st.markdown("\n".join(f"- {line}" for line in words.claims(found)))
    left, right = st.columns(2, gap="medium")
    with left:
        curves("variance", "Variance of the scores", "the variance of the scores")
    with right:
        curves("excess", "Tails of q · k", "excess kurtosis of the products, and what theory says")
    with st.expander("All numbers"):
        widgets.table(table, name="score-theory")
    _example()


def _example() -> None:
    """Draw the example of one key that stands out, with its formula and its numbers filled in."""
    st.subheader("One key that stands out", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        keys = widgets.number("Keys n", "example_keys", default=64, first=2, last=theory.MOST_KEYS)
        width = widgets.number("d_k", "example_width", default=64, first=1, last=theory.WIDTHS[-1])
        sigmas = widgets.decimal("σ above 0", "example_sigmas", default=1.0, first=0.0, last=20.0)
    found = session.cached(
        ("score example", keys, width, sigmas), lambda: theory.example(keys=keys, width=width, sigmas=sigmas)
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(words.example(found))
        scaled = (rf" / \sqrt{{{width}}}", sigmas, found.scaled_weight)
        for divided, score, weight in (("", found.score, found.weight), scaled):
            s = f"{score:.4g}"
            st.latex(
                rf"s = {sigmas:.4g} \sqrt{{{width}}}{divided} = {s}: \quad "
                rf"\frac{{e^{{{s}}}}}{{e^{{{s}}} + {keys - 1}}} = {number(weight)}"
            )
    with right:
        widgets.table(
            pd.DataFrame(
                [
                    ("the key, others at 0", found.weight, found.scaled_weight),
                    ("the key, others from N(0, d_k)", found.drawn_weight, found.scaled_drawn_weight),
                    ("largest of n from N(0, d_k)", found.drawn_largest, found.scaled_drawn_largest),
                ],
                columns=["Weight", "Without the scale", "With it"],
            ),
            name="score-example",
        )
    st.markdown("\n".join(f"- {line}" for line in words.settled(found)))
    st.caption(
        r"The weight of the key is $e^s / (e^s + n - 1)$ where the others are 0. Drawn rows: 512 or more, their mean."
    )
    with st.expander("Python"):
        widgets.python(EXAMPLE.format(keys=keys, width=width, sigmas=sigmas))
