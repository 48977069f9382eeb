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
    from inspector.costs.clock import Kernel
    from inspector.costs.counted.counting import Counted
    from inspector.views.costs.subject import Subject

ACTIVATIONS: dict[Kernel, tuple[str, str]] = {
    "eager": ("Activations, eager", "Where scores, softmax and mix are three steps."),
    "sdpa": ("Activations, fused", "Where torch's fused kernel computes attention (scaled_dot_product_attention)."),
}
HALF = 2  # bytes of a number as models are run
SHARING = """import inspector, models

{config}
cache = inspector.costs.kv_cache(config)
cache.bytes({tokens}, source={source}), cache.shared_by(1).bytes({tokens}, source={source})"""


def show(subject: Subject) -> None:
    """Draw the section; a model that cannot be counted says why."""
    try:
        counted = subject.counted()
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be counted")
        return
    _cache(subject, counted)
    st.subheader("One more token")
    _step(subject, counted)
    st.subheader("A training step")
    (forward,) = counted.total([subject.tokens if subject.target_tokens is None else subject.lengths])
    step = costs.training_step(forward, counted.parameters)
    kept = {kernel: subject.activations(kernel) for kernel in ACTIVATIONS}
    activations = [
        (ACTIVATIONS[kernel][0], quantity(amount, "B"), ACTIVATIONS[kernel][1])
        for kernel, amount in kept.items()
        if not isinstance(amount, str)
    ]
    widgets.numbers(
        [
            ("Forward", quantity(step.forward, "FLOP"), f"Matrix products over {_of(subject, counted)}."),
            ("Backward", quantity(step.backward, "FLOP"), "Twice the forward: each product has two gradients."),
            ("Weights", quantity(step.weights, "B"), f"4 bytes for each of {counted.parameters:,} parameters."),
            ("Gradients", quantity(step.gradients, "B"), "As many numbers as there are parameters."),
            ("Optimizer (Adam)", quantity(step.optimizer, "B"), "Two float32 numbers a parameter: 8 bytes."),
            *activations,
        ]
    )
    unknown = [
        f"{ACTIVATIONS[kernel][0]}: not known; {why.rstrip('.')}."
        for kernel, why in kept.items()
        if isinstance(why, str)
    ]
    st.caption(
        " ".join(
            [
                "Activations are what autograd keeps of one text's forward for the backward, in float32 and without "
                "dropout; b texts keep b times as much, and checkpoints less, for a second forward. Eager attention "
                "keeps its n × n weights; torch's fused kernel for CPUs keeps queries, keys, values, its output, "
                "one number for each query and head, and a mask where it is given one.",
                *unknown,
            ]
        )
    )


def _of(subject: Subject, counted: Counted) -> str:
    """Name the lengths that were counted."""
    source, target = subject.lengths
    if counted.shape != "encoder-decoder":
        return f"{source:,} tokens"
    return f"{source:,} tokens of a source and {target:,} of a target"


def _cache(subject: Subject, counted: Counted) -> None:
    st.subheader("KV cache")
    try:
        cache = costs.kv_cache(subject.config)
    except ValueError as error:
        st.text(f"There is none: {error}.")
        return
    layers = len(cache.layers)
    windows = sorted({layer.window for layer in cache.layers if layer.window is not None})
    name = NAMES[cache.sharing]
    source, target = subject.lengths
    both = counted.shape == "encoder-decoder"
    widgets.numbers(
        [
            ("A token", f"{cache.token_bytes(HALF):,} B", "Keys and values of all layers, 2 bytes a number."),
            (
                f"{target:,} tokens and a source of {source:,}" if both else f"{target:,} tokens",
                quantity(cache.bytes(target, source=source, element_bytes=HALF), "B"),
                "All keys and values that are kept: of the target, and once of the source."
                if both
                else "All keys and values that are kept.",
            ),
            ("Sharing", name, f"{cache.heads} heads, {cache.kv_heads} of keys and values."),
        ]
    )
    numbers = sorted({layer.numbers for layer in cache.layers})
    each = " or ".join(f"{number:,}" for number in numbers)
    window = (
        f" A layer with a window keeps {windows[0]:,} tokens at most."
        if windows
        else " So the cache grows in proportion to the text."
    )
    once = " A token of the source adds as many, once." if both else ""
    kept = (
        "the latent and the part with positions" if cache.sharing == "MLA" else "a key and a value for each of K heads"
    )
    st.caption(
        f"{layers} layers × {each} numbers × {HALF} bytes = {cache.token_bytes(HALF):,} bytes a token; a layer keeps "
        f"{kept}.{once}{window}"
    )
    if cache.sharing == "MLA" or cache.heads == 1:
        return
    table = read.sharing(cache, tokens=target, source=source)
    chart.show(
        partial(draw.sharing, table),
        alt="KV cache where every head has its own keys and values, where some share, and where all share one",
        key="sharing",
        python=SHARING.format(config=subject.python, tokens=target, source=source if both else 0),
        table=table,
    )


def _step(subject: Subject, counted: Counted) -> None:
    with st.spinner("Counting a step with the cache"):
        source, target = subject.lengths
        step = counted.step(tokens=source, target_tokens=subject.target_tokens)
    if step is None:
        st.text("This model writes no text token by token, or keeps no cache.")
        return
    both = counted.shape == "encoder-decoder"
    again = counted.table(tokens=source, target_tokens=target + 1) if both else counted.table(tokens=target + 1)
    again = again[again["stream"] != "encoder"]  # the source is encoded once, with a cache and without
    cached, whole = int(step["flops"].sum()), int(again["flops"].sum())
    those = "of the target " if both else ""
    widgets.numbers(
        [
            ("With the cache", quantity(cached, "FLOP"), f"One token read after {target:,} {those}that are cached."),
            ("Without it", quantity(whole, "FLOP"), f"All {target + 1:,} tokens {those}read again."),
            ("Ratio", number(whole / cached), "What the cache saves at this length."),
        ]
    )
    st.caption(
        "With the cache a step costs the projections and the FFN of one token, and attention over the keys that are "
        "kept; without, the whole text is read again. Where attention is dense the first grows with n and the second "
        "with n²; over all n steps of a text they add up to n² and n³."
        + (" The source is encoded once, either way." if both else "")
    )
