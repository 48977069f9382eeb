"""Memory and steps: weights, KV cache, a training step, and one token more with the cache and without."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector import costs
from inspector.costs.kv_cache import NAMES
from inspector.plots import costs as draw
from inspector.plots.theme import number, quantity
from inspector.readings import costs as read
from inspector.views.figures import chart
from inspector.views.shell import session, widgets

if TYPE_CHECKING:
    from inspector.costs.counted.counting import Counted
    from inspector.views.costs.subject import Subject

HALF = 2  # bytes of a number as models are run
SHARING = """import inspector, models

{config}
cache = inspector.costs.kv_cache(config)
cache.bytes({tokens}), cache.shared_by(1).bytes({tokens})"""


def show(subject: Subject) -> None:
    """Draw the section; a model that cannot be counted says why."""
    try:
        counted = subject.counted()
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be counted")
        return
    _cache(subject)
    st.subheader("One more token")
    _step(subject, counted)
    st.subheader("A training step")
    (forward,) = counted.total([subject.tokens])
    step = costs.training_step(forward, counted.parameters)
    kept = subject.activations()
    activations = (
        []
        if isinstance(kept, str)
        else [("Activations", quantity(kept, "B"), "What autograd keeps of the eager forward, in float32, no dropout.")]
    )
    widgets.numbers(
        [
            ("Forward", quantity(step.forward, "FLOP"), f"Matrix products over {subject.tokens:,} tokens."),
            ("Backward", quantity(step.backward, "FLOP"), "Twice the forward: each product has two gradients."),
            ("Weights", quantity(step.weights, "B"), f"4 bytes for each of {counted.parameters:,} parameters."),
            ("Gradients", quantity(step.gradients, "B"), "As many numbers as there are parameters."),
            ("Optimizer (Adam)", quantity(step.optimizer, "B"), "Two float32 numbers a parameter: 8 bytes."),
            *activations,
        ]
    )
    st.caption(
        f"Activations come on top; they grow with the batch and the text. Not counted here: {kept}."
        if isinstance(kept, str)
        else "Activations are those of one text; a batch of b texts keeps b times as much. A fused kernel keeps no "
        "maps, and checkpoints keep less for a second forward."
    )


def _cache(subject: Subject) -> None:
    st.subheader("KV cache")
    try:
        cache = costs.kv_cache(subject.config)
    except ValueError as error:
        st.text(f"There is none: {error}.")
        return
    layers = len(cache.layers)
    windows = sorted({layer.window for layer in cache.layers if layer.window is not None})
    name = NAMES[cache.sharing]
    widgets.numbers(
        [
            ("A token", f"{cache.token_bytes(HALF):,} B", "Keys and values of all layers, 2 bytes a number."),
            (
                f"{subject.tokens:,} tokens",
                quantity(cache.bytes(subject.tokens, source=subject.tokens, element_bytes=HALF), "B"),
                "All keys and values that are kept; an encoder-decoder also keeps those of a source as long.",
            ),
            ("Sharing", name, f"{cache.heads} heads, {cache.kv_heads} of keys and values."),
        ]
    )
    numbers = sorted({layer.numbers for layer in cache.layers})
    each = " or ".join(f"{number:,}" for number in numbers)
    window = f" A layer with a window keeps {windows[0]:,} tokens at most." if windows else ""
    kept = (
        "the latent and the part with positions" if cache.sharing == "MLA" else "a key and a value for each of K heads"
    )
    st.caption(
        f"{layers} layers x {each} numbers x {HALF} bytes = {cache.token_bytes(HALF):,} bytes a token; a layer keeps "
        f"{kept}.{window}"
    )
    if cache.sharing == "MLA" or cache.heads == 1:
        return
    table = read.sharing(cache, tokens=subject.tokens)
    chart.show(
        partial(draw.sharing, table),
        alt="KV cache where every head has its own keys and values, where some share, and where all share one",
        key="sharing",
        python=SHARING.format(config=subject.python, tokens=subject.tokens),
        table=table,
    )


def _step(subject: Subject, counted: Counted) -> None:
    with st.spinner("Counting a step with the cache"):
        step = counted.step(tokens=subject.tokens)
    if step is None:
        st.text("This model writes no text token by token, or keeps no cache.")
        return
    cached, (whole,) = int(step["flops"].sum()), counted.total([subject.tokens + 1])
    widgets.numbers(
        [
            ("With the cache", quantity(cached, "FLOP"), f"One token read after {subject.tokens:,} that are cached."),
            ("Without it", quantity(whole, "FLOP"), f"All {subject.tokens + 1:,} tokens read again."),
            ("Ratio", number(whole / cached), "What the cache saves at this length."),
        ]
    )
    st.caption(
        "With the cache a step costs the projections and the FFN of one token and attention over n keys: linear in n. "
        "Without, the whole text is read again."
    )
