"""Costs: parameters and FLOPs of attention against the FFN, by component, by layer and by the length of the text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector import costs
from inspector.plots import costs as draw
from inspector.plots import theme
from inspector.readings import costs as read
from inspector.views.figures import chart
from inspector.views.shell import sentence, session, widgets
from inspector.wording.english import costs as words
from models.formatting import format_bytes

if TYPE_CHECKING:
    import models

VALUES: dict[draw.Value, str] = {
    "parameters": "Parameters",
    "flops": "FLOPs",
    "activation_bytes": "Activation bytes",
    "cache_bytes": "KV cache bytes",
}
LOAD = "import inspector, models\n\nloaded = models.load({model!r})\n"
BREAKDOWN = LOAD + "table = inspector.costs.breakdown(loaded.config, tokens={tokens}{target})"
BY_LENGTH = LOAD + "table = inspector.costs.by_length(loaded.config, {lengths})"
PARAMETERS = LOAD + "table = inspector.costs.parameters(loaded.network)"


def without_formulas(loaded: models.LoadedModel, reason: str) -> None:
    """Show what needs no formula: the parameters in the model's own tensors, by layer."""
    table = costs.parameters(loaded.network)
    sentence.show(words.counted(read.counted(table)), ["parameters", "embedding"])
    with st.container(border=True):
        st.text(f"FLOPs and crossovers are not shown: {reason}.")
    size = sum(tensor.numel() * tensor.element_size() for tensor in loaded.network.parameters())
    st.caption(f"{table['parameters'].sum():,} parameters take {format_bytes(size)} of memory as they are loaded.")
    st.subheader("Parameters by layer")
    chart.show(
        partial(draw.counted, table),
        alt="Parameters in matrices, norms and embeddings, by layer",
        key="counted-parameters",
        python=PARAMETERS.format(model=loaded.card.id),
        table=table,
    )


inspected = session.inspected()
loaded = session.at_hand(inspected, so="its costs are not")
config, tokens = loaded.config, len(inspected.trace.tokens)
written = None if inspected.trace.target is None else len(inspected.trace.target)
target = "" if written is None else f" and a target of {written}"
try:
    table = costs.breakdown(config, tokens=tokens, target_tokens=written)
    crossovers = costs.crossovers(config)
except ValueError as error:
    without_formulas(loaded, str(error))
    st.stop()
sentence.show(words.shares(read.shares(table, crossovers, tokens=tokens)), ["FLOPs", "FFN", "scores and mix"])

with st.container(horizontal=True):
    stream = widgets.stream(table["stream"])
    value = widgets.bar("What is counted", list(VALUES), "counted", default="flops", words=VALUES.__getitem__)
python = BREAKDOWN.format(
    model=loaded.card.id, tokens=tokens, target="" if written is None else f", target_tokens={written}"
)
by_component, by_length = st.columns(2, gap="medium")
with by_component:
    st.subheader(f"{VALUES[value]} by component")
    chart.show(
        partial(draw.by_component, table, value=value, stream=stream),
        alt=f"{VALUES[value]} of each component, all layers together",
        key="by-component",
        python=python,
    )
with by_length:
    st.subheader("When does attention cost more than the FFN?")
    lengths = draw.lengths(crossovers, tokens=tokens)
    chart.show(
        partial(draw.by_length, costs.by_length(config, lengths), crossovers=crossovers, tokens=tokens),
        alt="FLOPs of attention and FFN against text length, with the two crossovers",
        key="by-length",
        python=BY_LENGTH.format(model=loaded.card.id, lengths=lengths),
    )

flops, weights = (table.groupby("part")[column].sum() for column in ("flops", "parameters"))
st.caption(
    f"One forward pass over this text of {tokens} tokens{target}: {theme.quantity(weights.sum())} parameters and "
    f"{theme.quantity(flops.sum())} FLOPs. Attention has {flops['attention'] / flops['ffn']:.3g} times the FLOPs and "
    f"{weights['attention'] / weights['ffn']:.3g} times the parameters of the FFN. 1 multiply-add counts as 2 FLOPs; "
    "every count is a closed formula, and the matrix products equal PyTorch's own FLOP counter exactly."
)
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

st.subheader(f"{VALUES[value]} by layer")
chart.show(
    partial(draw.by_layer, table, value=value, stream=stream),
    alt=f"{VALUES[value]} by layer",
    key="by-layer",
    python=python,
)
with st.expander("All numbers"):
    widgets.table(table, name="costs", height=360)
