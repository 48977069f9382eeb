"""The section Weightings: the open head's queries and keys under softmax, sigmoid, linear and cosine."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from inspector.plots.theme import number
from inspector.readings.score_functions import Weightings
from inspector.scores import weightings
from inspector.views.figures import matrix
from inspector.views.scores.subject import Subject, choose_head
from inspector.views.shell import progress, sentence, session, widgets
from inspector.wording.english import score_functions as words

PYTHON = """record = trace.record_of_head({layer}, {head}, {stream!r}, call={call})
maps = {{one.name: one.map for one in inspector.scores.weightings.weigh(record)}}"""
FORMULAS = (
    r"**softmax** $A = \mathrm{softmax}(QK^\top / \sqrt{d_k})$ · "
    r"**sigmoid** $A = \sigma(QK^\top / \sqrt{d_k} - \ln n)$, $n$ the keys that a query sees (Ramapuram et al. 2024) · "
    r"**linear** $A_{ij} = \phi(q_i) \cdot \phi(k_j) / \sum_t \phi(q_i) \cdot \phi(k_t)$, $\phi = \mathrm{elu} + 1$ "
    r"(Katharopoulos et al. 2020) · **cosine** $A = \mathrm{softmax}(\cos(q, k))$ (Graves et al. 2014, without their "
    "sharpening)"
)


def show(subject: Subject) -> None:
    """Draw the choice of head, the sentence, four maps and their numbers."""
    record, trace = subject.record, subject.trace

    def make() -> list[weightings.Weighed]:
        bar = progress.Bar(at_once=False)
        return weightings.weigh(record, on_done=lambda done, of: bar.draw(done, of, "Weighing the keys anew"))

    try:
        found = session.cached((trace.key, "weightings", subject.of_head), make)
    except ValueError as error:
        choose_head(subject)
        session.show_problem(str(error), what="Cannot be weighed anew")
        return
    by_name = {one.name: one for one in found}
    sentence.show(words.weightings(Weightings(subject.name, by_name)), words.WEIGHTING_TERMS)
    choose_head(subject)
    site = subject.site
    python = subject.python + PYTHON.format(layer=site.layer, head=subject.head, stream=subject.stream, call=site.call)
    shown = weightings.SHOWN
    for pair in (("softmax", "sigmoid"), ("linear", "cosine")):
        panels = [
            matrix.Panel(
                by_name[name].map, rows=site.queries[:shown], columns=site.keys[:shown], title=words.WAYS[name]
            )
            for name in pair
        ]
        matrix.show(
            *panels,
            row_title="query",
            column_title="key",
            name=f"weightings-{'-'.join(pair)}",
            key=f"weightings-{'-'.join(pair)}",
            python=python,
        )
    if max(len(site.queries), len(site.keys)) > shown:
        st.caption(f"Maps show the first {shown} queries and keys; the numbers are of the whole text.")
    widgets.table(
        pd.DataFrame(
            {
                "weighting": [words.WAYS[one.name] for one in found],
                "entropy": [one.entropy for one in found],
                "largest": [one.largest for one in found],
                "sums": [" to ".join(dict.fromkeys(number(total) for total in one.sums)) for one in found],
            }
        ),
        name="weightings",
        words={
            "weighting": "Weighting",
            "entropy": "Entropy, nats",
            "largest": "Largest weight",
            "sums": "Rows sum to",
        },
    )
    st.caption(FORMULAS)
    st.caption(
        "Entropy and largest weight are means over the queries that see more than one key; the entropy is of each row "
        "divided by its sum. q and k are this model's: trained with another weighting, they would be others. A bias on "
        "the scores, a soft-cap or sinks of the model are left out. The two maps of a row share a colour scale."
    )
