"""The source of each number: the formula with the model's own numbers, the count, and published figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from inspector.costs.published import published
from inspector.readings import costs as read
from inspector.views.shell import session, widgets

if TYPE_CHECKING:
    from inspector.views.costs.subject import Subject


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
    st.markdown(
        "- A multiply-add counts as 2 FLOPs: a matrix of a by b on n tokens costs 2 n a b.\n"
        "- A text of n tokens attends to all n keys in full, whatever a mask hides. A causal mask needs n (n + 1) / 2 "
        "of the n² pairs, about half; most code computes them all, and that is counted.\n"
        "- Counted are matrix products, by running the model's own code on shapes alone. It is the rule of PyTorch's "
        "FlopCounterMode.\n"
        "- Element-wise work, where it is shown: 5 FLOPs an element for softmax and LayerNorm, 8 for GELU."
    )
    st.subheader("Published numbers, and how they count")
    rows = [(one.what, one.printed, one.value, one.unit, one.convention) for one in published()]
    widgets.table(
        pd.DataFrame(rows, columns=["what", "printed", "counted here", "unit", "convention"]), name="published"
    )
