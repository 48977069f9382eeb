"""Costs: parameters and FLOPs of attention against the FFN, by layer and by the length of the text."""

from __future__ import annotations

import streamlit as st

from inspector import costs
from inspector.plots import costs as draw
from inspector.plots import theme
from inspector.views.shell import link, session, widgets

VALUES: dict[draw.Value, str] = {
    "parameters": "Parameters",
    "flops": "FLOPs",
    "activation_bytes": "Activation bytes",
    "cache_bytes": "KV cache bytes",
}

inspected = session.inspected()
mode = session.mode()
config = session.at_hand(inspected, so="its costs are not").config
tokens = len(inspected.trace.tokens)
written = None if inspected.trace.target is None else len(inspected.trace.target)
target = "" if written is None else f" and a target of {written}"
try:
    table = costs.breakdown(config, tokens=tokens, target_tokens=written)
    crossovers = costs.crossovers(config)
except ValueError as error:
    session.show_problem(f"{inspected.trace.model}: {error}")
    st.stop()
flops = table.groupby("part")["flops"].sum()
weights = table.groupby("part")["parameters"].sum()

st.caption(
    f"One forward pass over this text of {tokens} tokens{target}. 1 multiply-add counts as 2 FLOPs; every count is a "
    "closed formula, and the matrix products equal PyTorch's own FLOP counter exactly."
)
widgets.cards(
    [
        ("Parameters", theme.quantity(table["parameters"].sum()), f"{table['parameters'].sum():,} in all"),
        ("FLOPs", theme.quantity(table["flops"].sum()), f"{table['flops'].sum():,} for {tokens} tokens"),
        (
            "Attention : FFN",
            f"{flops['attention'] / flops['ffn']:.3g}",
            f"FLOPs of the layers' attention over those of the FFN, at {tokens} tokens",
        ),
        (
            "By parameters",
            f"{weights['attention'] / weights['ffn']:.3g}",
            "Parameters of the layers' attention over those of the FFN, at any length",
        ),
    ],
    width=170,
)

with st.container(horizontal=True):
    stream = widgets.stream(table["stream"])
    value = st.segmented_control(
        "What is counted",
        list(VALUES),
        default="flops",
        format_func=VALUES.__getitem__,
        key="counted",
        bind=link.bind_choice("counted", default="flops", options=list(VALUES), label=VALUES.__getitem__),
        required=True,
        label_visibility="collapsed",
    )
widgets.chart(
    draw.by_layer(table, value=value, stream=stream, mode=mode),
    alt=f"{VALUES[value]} by layer and component",
    key="by-layer",
)

st.subheader("When does attention cost more than the FFN?")
formulas = r"A layer's scores and mix cost $4n^2d$, its projections $8nd^2$, its FFN $4nd\,d_{ff}$. "
equals = (r"$n = d_{ff}$ = ", r"$n = d_{ff} - 2d$ = ") if crossovers.plain else ("", "")
sublayer = (
    "costs more at any length"
    if crossovers.sublayer is None
    else f"with its projections from {equals[1]}{crossovers.sublayer:,.0f} tokens"
)
st.caption(
    f"{formulas if crossovers.plain else ''}Scores and mix alone cost more than the FFN from "
    f"{equals[0]}{crossovers.core:,.0f} tokens; attention {sublayer}."
)
lengths = draw.lengths(crossovers, tokens=tokens)
widgets.chart(
    draw.by_length(costs.by_length(config, lengths), crossovers=crossovers, tokens=tokens, mode=mode),
    alt="FLOPs of attention and FFN against text length, with the two crossovers",
    key="by-length",
)

with st.expander("All numbers"):
    widgets.table(table, name="costs", height=360)
