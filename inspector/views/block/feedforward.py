"""An FFN's units on the reader's text: its activation function, which units answer, and what it is for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from inspector import activations, feedforward, mixing
from inspector.plots import block as draw
from inspector.plots.theme import signed
from inspector.readings import block as read
from inspector.views.block.recorded import Recorded
from inspector.views.figures import chart
from inspector.views.shell import by_name, link, sentence, session, widgets
from inspector.wording import token
from inspector.wording.english import block as words

if TYPE_CHECKING:
    from inspector.trace.blocks import FFNRecord

PYTHON = """import inspector, models

loaded = models.load({model!r})
trace = inspector.record(loaded, {text!r})
ffn = inspector.record_blocks(loaded, trace).ffn({stream!r}, {layer})
units = inspector.feedforward.units(ffn, loaded.network)"""
HEADS = {
    "unit": "Unit",
    "largest": "Largest output",
    "above": "Tokens above 0",
    "tokens": "Tokens that move it most",
}

OUTPUTS = {
    "function": "Function",
    "mean": "Mean",
    "deviation": "Deviation",
    "zero": "Share of 0",
    "flat": "Share of flat slopes",
    "largest": "Largest",
}


def show(found: Recorded, *, stream: str) -> None:
    """Draw one layer's FFN."""
    trace, network = found.trace, found.loaded.network
    refused = [one for one in found.blocks.refused if one[0] == stream]
    layers = list(dict.fromkeys(one.layer for one in found.blocks.ffns if one.stream == stream))
    if not layers:
        session.show_problem(f"The FFNs of {trace.model} are not shown: {refused[0][2]}.")
        return
    place = st.empty()
    number = by_name.one("Layer", [f"Layer {one}" for one in layers], name="layer", default=0, width=130)
    layer = layers[number]
    ffn = found.blocks.ffn(stream, layer)
    assert ffn is not None
    tokens = trace.read_by(stream).tokens
    measured = session.cached((trace.key, "units", stream, layer), lambda: feedforward.units(ffn, network))
    listed = session.cached(
        (trace.key, "busiest", stream, layer), lambda: feedforward.busiest(ffn, network, tokens=tokens)
    )
    first = tokens[int(listed["first"].iloc[0])]
    answered = read.answered(measured, listed, layer=layer, token=first)
    with place.container():
        sentence.show(words.answered(answered), ["FFN", "activation function"])
    python = PYTHON.format(model=trace.model, text=trace.text, stream=stream, layer=layer)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.subheader("The activation function, and this text's numbers on it", anchor=False)
        chart.show(
            partial(
                draw.activation,
                measured.counts,
                measured.edges,
                feedforward.curves(measured.edges, measured.activation),
                own=measured.activation,
                pairs=measured.pairs,
            ),
            alt="Histogram of the pre-activations with the activation function over it",
            key="block-activation",
            name=f"block-ffn-layer{layer}",
            python=python,
        )
        outside = measured.pairs - int(measured.counts.sum())
        beyond = f"; {outside:,} lie beyond the picture" if outside else ""
        st.caption(
            f"{measured.pairs:,} pre-activations, a number for each token and unit, from {signed(measured.low)} to "
            f"{signed(measured.high)}{beyond}."
        )
    with right:
        st.subheader("The units that answer most strongly", anchor=False)
        widgets.table(listed.drop(columns="first"), name="block-units", words=HEADS)
    st.subheader("What is lost without the activation function", anchor=False)
    st.markdown(words.straight(answered))
    _doubled(found, stream=stream, layer=layer, ffn=answered.doubled)
    left, right = st.columns(2, gap="medium")
    with left:
        _mixes(found, ffn, stream=stream, layer=layer)
    with right:
        _rectified(found, ffn, stream=stream, layer=layer)
    if refused:
        st.caption(
            widgets.plain(f"{len(refused)} layers' FFNs are not shown (layer {refused[0][1]}: {refused[0][2]}).")
        )
    if st.toggle("All layers", key="block_all_layers"):
        table = session.cached(
            (trace.key, "all units", stream), lambda: feedforward.by_layer(found.blocks, network, stream=stream)
        )
        widgets.table(table, name="block-ffns")


def _doubled(found: Recorded, *, stream: str, layer: int, ffn: float) -> None:
    """Draw the table of what doubling an input does."""
    rows = [("the FFN", ffn)]
    try:
        softmax, without = feedforward.attention_doubled(found.trace, stream=stream, layer=layer)
    except ValueError:
        pass
    else:
        rows += [("Q Kᵀ V, without softmax", without), ("softmax(Q Kᵀ / √d) V", softmax)]
    st.dataframe(
        pd.DataFrame(rows, columns=["Doubled input", "Output grows by"]),
        hide_index=True,
        width=520,
        column_config={"Output grows by": st.column_config.NumberColumn(format="%.4g")},
    )
    st.caption(
        "Queries, keys and values are doubled for attention, the state for the FFN; what is linear grows by 2. So "
        "attention without its softmax is not linear either: a product of three is cubic, 2 · 2 · 2 = 8. Masks and "
        "biases are left out."
    )


def _mixes(found: Recorded, ffn: FFNRecord, *, stream: str, layer: int) -> None:
    """Say which of FFN and attention mixes tokens, and which features."""
    trace, network = found.trace, found.loaded.network
    tokens = trace.read_by(stream).tokens
    position = min(1, len(tokens) - 1)

    def made() -> read.Mixes:
        by_ffn = mixing.ffn(found.blocks, network, stream=stream, layer=layer, position=position)
        try:
            both = mixing.attention(trace, found.blocks, network, stream=stream, layer=layer, position=position)
        except ValueError:
            both = None
        seen = min(len(tokens), mixing.MOST)
        return read.Mixes(tokens[position], seen, ffn.input.shape[1], by_ffn, both)

    st.subheader("Which mixes tokens, and which features?", anchor=False)
    told = session.cached((trace.key, "mixes", stream, layer), made)
    st.markdown(f"One number of {token(told.token)} is changed as it enters layer {layer}'s FFN, or its attention.")
    st.markdown("\n".join(f"- {line}" for line in words.mixes(told)))


def _rectified(found: Recorded, ffn: FFNRecord, *, stream: str, layer: int) -> None:
    """Say what speaks for ReLU and against it, and let units die in small trainings when asked."""
    trace = found.trace
    st.subheader("For ReLU and against it", anchor=False)
    table = session.cached(
        (trace.key, "outputs", stream, layer), lambda: activations.outputs(ffn, found.loaded.network)
    )
    st.markdown("\n".join(f"- {line}" for line in words.outputs(read.outputs(table, found.blocks, stream=stream))))
    with st.expander("All numbers"):
        named = table.assign(function=[words.ACTIVATIONS[one] for one in table["function"]])
        widgets.table(named, name="block-activations", words=OUTPUTS)
    if not st.toggle("Train four small networks", key="dying", bind=link.bind_switch("dying")):
        return
    with st.spinner(f"Training four small networks for {activations.STEPS} steps"):
        died = session.cached("dying units", activations.dying)
    st.markdown(words.dying(died))
    widgets.table(died, name="block-dying", words={"rate": "Learning rate", "dead": "Dead", "loss": "Last loss"})
    st.caption(
        f"Two hidden layers of {activations.UNITS} units with ReLU, plain SGD, one seed; counted are units of the "
        "second layer that are above 0 on none of 4,096 other inputs. Loss in nats."
    )
