"""The tensors of the model that are one, what a tied head's choice means, and how heads come together."""

from __future__ import annotations

from functools import partial

import streamlit as st

from inspector import block, sharing
from inspector.plots import block as draw
from inspector.readings import block as read
from inspector.trace.blocks import HeadRecord
from inspector.views.block.recorded import Recorded
from inspector.views.figures import chart
from inspector.views.shell import available_models, sentence, session, widgets
from inspector.wording import token
from inspector.wording.english import block as words

PYTHON = """import inspector, models

loaded = models.load({model!r})
trace = inspector.record(loaded, {text!r})
blocks = inspector.record_blocks(loaded, trace)
table = inspector.sharing.storages(blocks, stream={stream!r}, head={head!r})"""


def show(found: Recorded, *, stream: str) -> None:
    """Draw the storages of a stream, and the numbers under them."""
    trace, network = found.trace, found.loaded.network
    layers = found.blocks.of(stream)
    table = sharing.storages(found.blocks, stream=stream)
    model = (found.loaded.card.id, available_models.version(found.loaded.card.id))
    keys = session.cached(
        ("W_K and W_V", *model, stream), lambda: [sharing.keys_from_values(layer, network) for layer in layers]
    )
    head = _head(found)
    name = head.matrix.name if isinstance(head, HeadRecord) else ""
    drawn = sharing.storages(found.blocks, stream=stream, head=name)
    sentence.show(words.shared(read.shared(table, keys)), ["parameters"])
    st.subheader("Which tensors are one", anchor=False)
    chart.show(
        partial(draw.storages, drawn),
        alt="A row for each layer, embedding and head, a column for each matrix; cells of one storage have one number",
        key="block-storages",
        python=PYTHON.format(model=trace.model, text=trace.text, stream=stream, head=name),
        table=drawn,
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Embedding and head", anchor=False)
        _tied(found, head)
    with right:
        st.subheader("Heads side by side, or added up", anchor=False)
        first = layers[0]
        try:
            tokens = trace.read_by(stream).tokens
            last = len(tokens) - 1
            mixed = block.mixed(trace, stream=stream, layer=first.layer, position=last)
            told = session.cached(
                (trace.key, "heads side by side", stream), lambda: sharing.heads(trace, first, network, mixed=mixed)
            )
        except ValueError as error:
            st.caption(widgets.plain(f"{error}."))
        else:
            st.markdown(f"Layer {first.layer}, at the last token, {token(tokens[last])}: {words.heads(told)}")


def _head(found: Recorded) -> HeadRecord | str:
    """Record the product that makes the logits; else the sentence that says why there is none to show."""
    from inspector import probe

    if found.loaded.predict is None:
        return "This model has no head that predicts tokens, so there is nothing that its embedding could share."
    try:
        return session.cached((found.trace.key, "head"), lambda: probe.record_head(found.loaded, found.trace))
    except ValueError as error:
        return f"{error}."


def _tied(found: Recorded, head: HeadRecord | str) -> None:
    """Say whether embedding and head are one, and what the head's choice has to do with the nearest row."""
    if isinstance(head, str):
        st.markdown(widgets.plain(head))
        return
    network = found.loaded.network
    near = session.cached((found.trace.key, "nearest"), lambda: sharing.nearest(head, network))
    own, width = network.get_parameter(head.matrix.name).shape, head.input.shape[-1]
    st.markdown(
        f"{words.tied(found.blocks.embedding, head.matrix.name)} The head's matrix is {own[0]:,} x {own[1]:,} for "
        f"states of {width:,} numbers. {words.nearest(near)}"
    )
