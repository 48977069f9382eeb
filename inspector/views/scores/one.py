"""The section One head: its q . k beside the normal distribution, before the scale and after."""

from __future__ import annotations

from functools import partial

import streamlit as st

from inspector import explain, scores
from inspector.plots.scores import heads as draw
from inspector.plots.theme import number, signed
from inspector.readings import scores as read
from inspector.views.figures import chart
from inspector.views.scores import beside
from inspector.views.scores.subject import Subject, choose_head
from inspector.views.shell import sentence, session, widgets
from inspector.wording.english import scores as words

PYTHON = "found = inspector.scores.distribution(trace.record_of_head({layer}, {head}, {stream!r}, call={call}))"


def show(subject: Subject) -> None:
    """Draw the head's distribution, its quantiles and its numbers."""
    place = st.container()
    choose_head(subject)
    row = subject.row_of(subject.measured())
    key = (subject.trace.key, "distribution", subject.stream, subject.row, subject.head)
    try:
        found = session.cached(key, lambda: scores.distribution(subject.record))
    except ValueError as error:
        with place:
            session.show_problem(f"{error}.")
        return
    told, other = read.one(row, found), beside.side_b(subject)
    with place:
        sentence.show(words.one(told), ["q · k", "d_k", "excess kurtosis"])
    site = subject.site
    python = subject.python + PYTHON.format(layer=site.layer, head=subject.head, stream=subject.stream, call=site.call)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("q · k over all pairs", anchor=False)
        chart.show(
            partial(draw.histogram, found),
            alt="Histogram of q · k in standard deviations, with the normal distribution over it",
            key="scores-histogram",
            python=python,
        )
    with right:
        st.subheader("Its quantiles, against the normal distribution's", anchor=False)
        chart.show(
            partial(draw.quantiles, found),
            alt="Quantiles of q · k against those of the normal distribution, with the line where they are equal",
            key="scores-quantiles",
            python=python,
        )
    read_of = "" if found.rows == found.of else f", of {found.rows:,} of the {found.of:,} queries, evenly over the text"
    st.caption(f"{found.pairs:,} pairs that no mask hides{read_of}. {words.far(told)}")
    widgets.numbers(words.numbers(row))
    if other is not None:
        second = other.row_of(other.measured())
        st.markdown(f"Side B, {words.head(read.place(second))}: {words.varies(second)}")
        widgets.numbers(words.numbers(second), of=" (side B)")
    st.markdown(_formula(subject, told))
    alone = session.cached((*key, "alone"), lambda: scores.alone(subject.trace, subject.record, head=subject.head))
    st.caption(words.alone(alone, heads=site.heads))


def _formula(subject: Subject, told: read.One) -> str:
    """Write the variances with their numbers, and the formula of the scores."""
    variance = number(told.ratio * told.d_k)
    before = rf"$\mathrm{{Var}}(q \cdot k) = {variance} = {number(told.ratio)} \times {told.d_k}$"
    written = rf"$S = {explain.formula(subject.record)}$ from {signed(told.low)} to {signed(told.high)}"
    if told.scale is None:
        return f"{before}; {written}"
    scale = rf"1/\sqrt{{{told.d_k}}}" if told.root else number(told.scale)
    after = rf"$\mathrm{{Var}}(q \cdot k \times {scale}) = {variance} \times {number(told.scale**2)} = "
    return f"{before}; {after}{number(told.scaled)}$; {written}"
