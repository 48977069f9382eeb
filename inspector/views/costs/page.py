"""Costs: parameters, FLOPs and bytes of attention against the FFN, for any model, with or without its weights."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector import costs
from inspector.plots import costs as draw
from inspector.plots import theme
from inspector.readings import costs as read
from inspector.views.costs import beside, card, derivation, heads, memory, time
from inspector.views.costs import subject as subjects
from inspector.views.figures import chart
from inspector.views.shell import sentence, session, widgets
from inspector.wording.english import costs as words
from models.formatting import format_bytes

if TYPE_CHECKING:
    import pandas as pd

    import models
    from inspector.views.costs.subject import Subject

VALUES: dict[draw.Value, str] = {
    "parameters": "Parameters",
    "flops": "FLOPs",
    "activation_bytes": "Activation bytes",
    "cache_bytes": "KV cache bytes",
    "milliseconds": "Milliseconds",
}
SECTIONS = {
    "layers": "By layer",
    "whole": "The whole model",
    "memory": "Memory and steps",
    "card": "On your card",
    "heads": "Heads",
    "beside": "Side by side",
    "time": "Time",
    "derivation": "How it is counted",
}
LOAD = "import inspector, models\n\n{config}\n"
BREAKDOWN = LOAD + "table = inspector.costs.breakdown(config, tokens={tokens}{target})"
COUNTED = LOAD + "table = inspector.costs.count(config).table(tokens={tokens}{target})"
BY_LENGTH = LOAD + "table = inspector.costs.by_length(config, {lengths})"
SWEEP = LOAD + "counted = inspector.costs.count(config)\ntable = inspector.costs.sweep(counted, {lengths})"
PARAMETERS = "import inspector, models\n\ntable = inspector.costs.parameters(models.load({model!r}).network)"


def without_count(loaded: models.LoadedModel, reason: str) -> None:
    """Show what needs no count: the parameters in the model's own tensors, by layer."""
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


def closed_form(subject: Subject) -> tuple[pd.DataFrame, costs.Crossovers] | None:
    """The table and crossovers by closed formulas; None for a model without."""
    try:
        table = costs.breakdown(subject.config, tokens=subject.tokens, target_tokens=subject.target_tokens)
        return table, costs.crossovers(subject.config)
    except ValueError:
        return None


def by_length(subject: Subject, crossovers: costs.Crossovers, *, formulas: bool, stream: str) -> None:
    """Draw FLOPs against the length of the text, with both crossovers."""
    lengths = draw.lengths(crossovers, tokens=subject.tokens)
    table = (
        costs.by_length(subject.config, lengths) if formulas else costs.sweep(subject.counted(), lengths, stream=stream)
    )
    text = "this text" if subject.loaded is not None else "chosen"
    python = (BY_LENGTH if formulas else SWEEP).format(config=subject.python, lengths=lengths)
    chart.show(
        partial(draw.by_length, table, crossovers=crossovers, tokens=subject.tokens, text=text),
        alt="FLOPs of attention and FFN against text length, with the two crossovers",
        key="by-length",
        python=python,
        table=table,
    )


def show(subject: Subject) -> None:
    """Draw the costs of a model or a shape: the sentence, two pictures, and one section below them."""
    tokens, target_tokens = subject.tokens, subject.target_tokens
    found = closed_form(subject)
    crossovers: costs.Crossovers | None
    try:
        if found is not None:
            table, crossovers = found
        else:
            table = subject.counted().table(tokens=tokens, target_tokens=target_tokens)
            crossovers = costs.crossings(subject.counted()) if subject.counted().formula is not None else None
    except ValueError as error:
        if subject.loaded is None:
            session.show_problem(str(error), what="Cannot be counted")
        else:
            without_count(subject.loaded, str(error))
        return

    if crossovers is not None and read.compares(read.merged(table)):
        shares = read.shares(read.merged(table), crossovers, tokens=tokens)
        sentence.show(words.shares(shares), ["FLOPs", "FFN", "scores and mix"])
    else:
        sentence.show(words.whole(read.whole(table, tokens=tokens)), ["FLOPs", "parameters"])

    values = [
        value
        for value in VALUES
        if value == "milliseconds" or (value in table and (value == "flops" or table[value].any() or found is not None))
    ]
    with st.container(horizontal=True):
        stream = widgets.stream(table["stream"])
        value = widgets.bar("What is counted", values, "counted", default="flops", words=VALUES.__getitem__)
    target = "" if target_tokens is None else f", target_tokens={target_tokens}"
    python = (COUNTED if found is None else BREAKDOWN).format(config=subject.python, tokens=tokens, target=target)
    amounts: pd.DataFrame | None = table
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader(f"{VALUES[value]} by component")
        if value == "milliseconds":
            amounts, python = time.by_layer(subject, table), time.python(subject, [tokens])
            stream = str(table["stream"].iloc[0])
        if amounts is not None:
            chart.show(
                partial(draw.by_component, amounts, value=value, stream=stream),
                alt=f"{VALUES[value]} of each component, all layers together",
                key=derivation.BARS,
                python=python,
                on_pick=None if value == "milliseconds" else derivation.pick,
            )
        if value != "milliseconds":
            derivation.opened(subject, table, amount=value, stream=stream, closed=found is not None)
    with right:
        if crossovers is not None:
            st.subheader("When does attention cost more than the FFN?")
            by_length(subject, crossovers, formulas=found is not None, stream=str(table["stream"].iloc[0]))

    sums = read.merged(table).groupby("part")[["flops", "parameters"]].sum()
    against = ""
    if {"attention", "ffn"} <= set(sums.index) and sums["flops"]["ffn"]:
        ratio = sums.loc["attention"] / sums.loc["ffn"]
        chosen = (
            " (FLOPs of the experts that a token chooses, parameters of all)" if "experts" in set(table["part"]) else ""
        )
        work = ", element-wise work included," if (table["kind"] == "elementwise").any() else ""
        against = (
            f" Attention has {ratio['flops']:.3g} times the FLOPs{work} and {ratio['parameters']:.3g} times the "
            f"parameters of the FFN{chosen}."
        )
    how = (
        "every count is a closed formula, and the matrix products equal PyTorch's own FLOP counter exactly."
        if found is not None
        else "the model's own code was run without weights, and every product it makes was counted."
    )
    reads = "this text" if subject.loaded is not None else "a text"
    st.caption(
        f"One forward pass over {reads} of {tokens:,} tokens"
        f"{'' if target_tokens is None else f' and a target of {target_tokens:,}'}: "
        f"{theme.quantity(sums['parameters'].sum())} parameters and {theme.quantity(sums['flops'].sum())} FLOPs."
        f"{against} "
        f"1 multiply-add counts as 2 FLOPs; {how}"
    )
    if crossovers is not None:
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

    if found is not None and (linear := read.linear(subject.config, table, tokens=tokens, target_tokens=target_tokens)):
        st.caption(words.linear(linear))

    match widgets.bar("More about these costs", list(SECTIONS), "section", words=SECTIONS.__getitem__):
        case "layers" | "whole" if amounts is None:
            st.text("Press Measure above: the bars are drawn when the clock has run.")
        case "layers":
            st.subheader(f"{VALUES[value]} by layer")
            chart.show(
                partial(draw.by_layer, amounts, value=value, stream=stream),
                alt=f"{VALUES[value]} by layer",
                key="by-layer",
                python=python,
            )
            with st.expander("All numbers"):
                widgets.table(amounts, name="costs", height=360)
        case "whole":
            st.subheader(f"{VALUES[value]} of the whole model")
            st.caption(
                "Each area is as large as its amount. Click one to open it, and the line above the picture to go back."
            )
            chart.show(
                partial(draw.treemap, amounts, value=value),
                alt=f"{VALUES[value]} of every stream, layer, part and component as nested areas",
                key="treemap",
                python=python,
                table=amounts,
            )
        case "memory":
            memory.show(subject)
        case "card":
            card.show(subject)
        case "heads":
            heads.show(subject)
        case "beside":
            beside.show(subject)
        case "time":
            time.show(subject)
        case _:
            derivation.show(subject, table, formulas=found is not None, stream=stream)


if (subject := subjects.chosen()) is not None:
    show(subject)
