"""The source of each number: the formula with the model's own numbers, the count, and published figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from inspector.costs.published import published
from inspector.plots import costs as draw
from inspector.plots.theme import number
from inspector.readings import costs as read
from inspector.views.costs import time
from inspector.views.shell import link, session, widgets
from inspector.wording.english import costs as words

if TYPE_CHECKING:
    from inspector.costs.counted.counting import Counted
    from inspector.costs.derivation import Amount
    from inspector.views.costs.subject import Subject


NONE = "choose a component"
MASKS = {"flops": "computed (FLOPs)", "needed": "needed (FLOPs)", "width": "width (tokens)"}
BARS = "by-component"  # the chart whose bars are clicked


def pick() -> None:
    """Open the derivation of the bar that the reader clicked."""
    if points := st.session_state[BARS]["selection"]["points"]:  # none after a click beside the bars
        st.session_state["component"] = points[0]["y"]


def opened(subject: Subject, table: pd.DataFrame, *, amount: Amount, stream: str, closed: bool) -> None:
    """Let the reader choose a component, by a click on its bar or here, and derive its number.

    closed: whether the table comes from closed formulas.
    """
    own = table[table["stream"] == stream]
    named = own.assign(name=draw.names(own))
    named = named[(named["kind"] == "matmul") & (named[amount] > 0)]
    options = [NONE, *dict.fromkeys(named["name"])]
    name = st.selectbox(
        "Derivation of",
        options,
        key="component",
        bind=link.bind_choice("component", default=NONE, options=options),
        help="Opens the formula of a number. A click on a bar does the same.",
        width=280,
    )
    if name == NONE:
        st.caption(
            "Click a bar to see where its number comes from. What is element-wise, norms and sums goes by constants "
            "(How it is counted)."
        )
        return
    try:
        counted = subject.counted() if amount == "flops" else None
    except ValueError as error:
        st.caption(f"The count is not there: {error}.")
        counted = None
    lengths: tuple[int, ...] = (subject.tokens,)
    if {"encoder", "decoder"} <= set(table["stream"]):
        lengths += (subject.target_tokens or subject.tokens,)
    rows = named[named["name"] == name]
    found = read.derivation(
        rows,
        subject.config,
        amount=amount,
        model=counted,
        closed=closed,
        lengths=lengths,
        streams=table["stream"].nunique(),
    )
    st.text(words.derivation(found))
    st.caption(words.derived_from(found))
    if amount == "flops":
        _three_ways(subject, found, part=str(rows["part"].iloc[0]))


def _three_ways(subject: Subject, found: read.Derived, *, part: str) -> None:
    """Draw formula, count and clock beside each other, and whether the first two agree."""
    said = []
    if found.formula is not None:
        said.append(("Formula", f"{found.formula:,}", "Closed formulas, from the configuration alone."))
    if found.count is not None:
        said.append(("Count", f"{found.count:,}", "The products that the model's own code makes, on shapes alone."))
    measured = time.known(subject)
    timed = None if measured is None else read.clocked(found.component, part, measured, tokens=subject.tokens)
    if timed is not None:
        name, milliseconds, rate = timed
        meaning = f"Of {name} together in one layer: {number(rate)} GFLOP/s."
        said.append(("Clock", f"{number(milliseconds)} ms a layer", meaning))
    if said:
        widgets.numbers(said)
    if measured is None:
        st.caption("For the time beside them choose Milliseconds above, and press Measure.")
    if found.formula is None or found.count is None:
        return
    if found.formula == found.count:
        st.badge("Formula and count agree to the last FLOP", icon=":material/verified:", color="green")
    else:
        st.badge(
            f"Formula and count differ by {abs(found.formula - found.count):,} FLOPs",
            icon=":material/warning:",
            color="red",
        )


def show(subject: Subject, table: pd.DataFrame, *, formulas: bool, stream: str) -> None:
    """Draw the polynomial, whether formula and count agree, the conventions, and published numbers."""
    st.subheader("FLOPs as a formula of the text's length")
    try:
        counted = subject.counted()
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be counted")
        return
    if counted.formula is None:
        st.text("No formula was found that holds at every length; each length is counted by itself.")
    else:
        widgets.table(read.terms(counted, stream=stream), name="formula")
        lengths = "n and m are the tokens of source and target" if "m" in counted.terms else "n is the text's tokens"
        st.caption(
            f"FLOPs of a component in all layers of the stream: the sum of each column times its head; {lengths}. The "
            "coefficients are whole numbers, found from counts at a few lengths and proven at others."
        )
    ran = int(counted.table(tokens=subject.tokens, target_tokens=subject.target_tokens)["flops"].sum())
    if formulas:
        derived = int(table["flops"][table["kind"] == "matmul"].sum())
        if derived == ran:
            st.text(f"The closed formula and the count agree: {ran:,} FLOPs of matrix products.")
        else:
            st.warning(f"The closed formula gives {derived:,} FLOPs of matrix products and the count {ran:,}.")
    _needed(subject, counted)
    st.subheader("How it is counted")
    st.markdown(
        "- A multiply-add counts as 2 FLOPs: a matrix of a by b on n tokens costs 2 n a b.\n"
        "- Counted are matrix products, by running the model's own code on shapes alone. It is the rule of PyTorch's "
        "FlopCounterMode.\n"
        "- Element-wise work, where it is shown: 5 FLOPs an element for softmax and LayerNorm, 8 for GELU."
    )
    st.subheader("Published numbers, and how they count")
    rows = [(one.what, one.printed, one.value, one.unit, one.convention) for one in published()]
    widgets.table(
        pd.DataFrame(rows, columns=["what", "printed", "counted here", "unit", "convention"]), name="published"
    )


def _needed(subject: Subject, counted: Counted) -> None:
    """Set what scores and mix compute beside what their masks leave."""
    pairs = counted.needed(tokens=subject.tokens, target_tokens=subject.target_tokens)
    if pairs.empty:  # no scores and no mix: a state space, a Fourier transform
        return
    st.subheader("Computed, and needed")
    st.text(words.needed(read.needed(pairs)))
    widgets.table(read.masks(pairs), name="needed", words=MASKS)
    st.caption(
        "Most code multiplies every query with every key and hides a part afterwards. A causal mask leaves n (n + 1) / "
        "2 of the n² pairs, a window of w at most w keys a query. All other numbers of this page are what is computed."
    )
