"""The additions of attention and FFN to the residual stream, and what they do to the prediction."""

from __future__ import annotations

from functools import partial

import streamlit as st

from inspector import block
from inspector.plots import block as draw
from inspector.readings import block as read
from inspector.views.block.recorded import Recorded
from inspector.views.figures import chart
from inspector.views.shell import by_name, sentence, session, widgets
from inspector.wording.english import block as words

STAGES = """import inspector, models

loaded = models.load({model!r})
trace = inspector.record(loaded, {text!r})
blocks = inspector.record_blocks(loaded, trace)
stages = inspector.block.stages(trace, blocks, stream={stream!r})
"""
TABLE = STAGES + "table = inspector.block.additions(stages)"
LENS = STAGES + "table = inspector.block.moved(trace, stages, loaded.predict, loaded.tokenizer, position={position})"


def show(found: Recorded, *, stream: str) -> None:
    """Draw the charts of a stream."""
    trace, stages = found.trace, found.stages(stream)
    table = session.cached((trace.key, "additions", stream), lambda: block.additions(stages))
    sentence.show(words.added(read.added(table)), ["residual stream", "cosine", "FFN"])
    given = {"model": trace.model, "text": trace.text, "stream": stream}
    python = TABLE.format(**given)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("How long it is, against the stream", anchor=False)
        chart.show(
            partial(draw.shares, table),
            alt="Length of what attention and FFN add, against the length of the stream, by layer",
            key="block-shares",
            python=python,
            table=table,
        )
    with right:
        st.subheader("Which way it points", anchor=False)
        chart.show(
            partial(draw.shares, table, value="cosine"),
            alt="Cosine of what attention and FFN add with the stream, by layer",
            key="block-cosines",
            python=python,
            table=table,
        )
    st.caption(
        "Means over all tokens of the text. A cosine near 0 means that a part writes into other directions than those "
        "that the stream uses already; a negative one takes away from what is there."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("How alike two tokens are, by depth", anchor=False)
        if len(trace.read_by(stream).tokens) > 1:
            chart.show(
                partial(draw.alike, table),
                alt="Mean cosine of two tokens' states after every sublayer",
                key="block-alike",
                python=python,
                table=table,
            )
        else:
            st.caption("A text of one token has no two to compare.")
    with right:
        _lens(found, stream=stream, given=given)
    with st.expander("All numbers"):
        widgets.table(table, name="block-additions")


def _lens(found: Recorded, *, stream: str, given: dict[str, str]) -> None:
    trace, loaded = found.trace, found.loaded
    st.subheader("How each part moves the prediction", anchor=False)
    if loaded.predict is None:
        st.caption("This model has no head that predicts tokens, so there is no prediction to move: try mini-gpt.")
        return
    if stream != ("decoder" if "decoder" in found.streams else "encoder"):
        st.caption("The head reads the decoder's stream.")
        return
    tokens = trace.read_by(stream).tokens
    position = by_name.token("Token", tokens, name="token", default=1)
    stages = found.stages(stream)
    try:
        table = session.cached(
            (trace.key, "moved", stream, position),
            lambda: block.moved(trace, stages, loaded.predict, loaded.tokenizer, position=position),
        )
    except ValueError as error:
        st.caption(widgets.plain(f"{error}."))
        return
    st.markdown(words.moved(read.moved(table, token=tokens[position])))
    chart.show(
        partial(draw.moved, table),
        alt="Probability of the final prediction after every sublayer, with the likeliest token",
        key="block-lens",
        python=LENS.format(**given, position=position),
        table=table,
    )
    st.caption(
        "The head is asked after each part, through the model's own end: the logit lens (nostalgebraist 2020). Over "
        "a bar stands what it finds likeliest there."
    )
