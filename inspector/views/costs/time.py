"""Milliseconds beside FLOPs: the clock, which runs only when it is asked, and the roofline of any device."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.costs import clock
from inspector.plots import costs as draw
from inspector.readings import costs as read
from inspector.views.figures import chart
from inspector.views.shell import measuring, session, widgets
from inspector.wording.english import costs as words
from models import failures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

    from inspector.costs.clock import Kernel, LayerShape, Measured
    from inspector.views.costs.subject import Subject
    from inspector.views.shell.measuring import Watch

LENGTHS = (64, 128, 256, 512, 1024)
KERNELS: dict[Kernel, str] = {"eager": "Eager", "sdpa": "Fused"}
MEASURED = """import inspector, models

measured = inspector.costs.measure(models.load({model!r}), {lengths})
table = measured.table"""
WITHOUT_WEIGHTS = """import inspector
from inspector.costs import clock

{config}
measured = clock.measure_shape(clock.layer_shape(config), {lengths})
table = measured.table"""


def show(subject: Subject) -> None:
    """Draw the clock and the roofline."""
    shape = _shape(subject)
    if shape is None:
        return
    st.subheader("On this machine's clock")
    measured = clocked(subject, shape, LENGTHS, key="measure")
    if measured is not None:
        _lengths(subject, measured)
    st.subheader("On a device of yours")
    _roofline(shape, subject.tokens)


def by_layer(subject: Subject, table: pd.DataFrame) -> pd.DataFrame | None:
    """Give the milliseconds of the layers' parts at the text's length, or offer the clock and give None.

    table: of the costs, whose layers like the timed one get its times.
    """
    shape = _shape(subject)
    if shape is None:
        return None
    measured = clocked(subject, shape, (subject.tokens,), key="measure-layers")
    if measured is None:
        return None
    kernel = widgets.bar("Attention computed", list(KERNELS), "kernel", words=KERNELS.__getitem__)
    found = read.timed(table, measured, kernel=kernel, tokens=subject.tokens)
    st.caption(words.timed(found, measured, kernel=kernel, tokens=subject.tokens))
    return found.table


def clocked(subject: Subject, shape: LayerShape, lengths: Sequence[int], *, key: str) -> Measured | None:
    """Offer the clock, run it when the reader presses the button, and give what it found for these lengths."""
    tensor = None if subject.loaded is None else next(subject.loaded.network.parameters())

    def work(on_progress: Watch, so_far: Callable[[Measured], object]) -> Measured:
        return clock.measure_shape(
            shape,
            lengths,
            dtype=None if tensor is None else tensor.dtype,
            device="cpu" if tensor is None else tensor.device,
            on_progress=on_progress,
            on_turn=so_far,
        )

    at = ", ".join(f"{length:,}" for length in lengths)
    return measuring.run(
        work,
        known=(subject.key, tuple(lengths)),
        key=key,
        about=f"Milliseconds are measured on this machine: one layer of this shape, with random numbers for weights, "
        f"is run part by part at {at} {'token' if at == '1' else 'tokens'}. It takes some seconds.",
    )


def known(subject: Subject) -> Measured | None:
    """Give what the clock found at the text's length, None where it did not run."""
    found: Measured | None = measuring.last((subject.key, (subject.tokens,)))
    return found


def _shape(subject: Subject) -> LayerShape | None:
    """The shape of the layer to time; where there is none the page says why."""
    try:
        with failures.told("Reading a layer's shape", instead="Choose another model."):
            return subject.layer_shape()
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be timed")
        return None


def _lengths(subject: Subject, measured: Measured) -> None:
    """Draw milliseconds against the length of the text, and what was achieved."""
    st.markdown(words.measured(measured))
    table = read.times(measured)
    chart.show(
        partial(draw.clock, table),
        alt="Milliseconds of attention, eager and SDPA, and of the FFN, against text length",
        key="clock",
        python=python(subject, LENGTHS),
        table=measured.table,
    )
    st.caption(
        f"Medians of {measured.repeats} runs that take turns, {measured.clock}, {measured.dtype} on {measured.device}. "
        "FLOPs predict the fused kernel better than eager attention: eager writes every map to memory and reads it "
        "again for the softmax, which computes little for each byte. A busy machine moves these numbers."
    )
    st.markdown(words.rates(measured))
    rates = measured.table.assign(
        gflops=measured.table["flops"] / measured.table["seconds"] / 1e9,
        gbytes=measured.table["bytes"] / measured.table["seconds"] / 1e9,
        milliseconds=1000 * measured.table["seconds"],
    )
    with st.expander("GFLOP/s and bytes moved, part by part"):
        widgets.table(
            rates[["tokens", "part", "milliseconds", "gflops", "gbytes"]],
            name="clock",
            words={"gflops": "GFLOP/s", "gbytes": "GB/s, at least"},
        )


def python(subject: Subject, lengths: Sequence[int]) -> str:
    """Give the lines that measure the same."""
    if subject.loaded is None:
        return WITHOUT_WEIGHTS.format(config=subject.python, lengths=list(lengths))
    return MEASURED.format(model=subject.loaded.card.id, lengths=list(lengths))


def _roofline(shape: LayerShape, tokens: int) -> None:
    with st.container(horizontal=True):
        peak = widgets.number("GFLOP/s", "peak", default=1000, first=1, last=10**7, help="What it computes at most.")
        bandwidth = widgets.number("GB/s", "bandwidth", default=50, first=1, last=10**6, help="What its memory moves.")
    work = clock.work(shape, tokens)
    chart.show(
        partial(draw.roofline, work, peak=1e9 * peak, bandwidth=1e9 * bandwidth),
        alt="Attainable FLOP/s of each part of a layer against its FLOPs a byte",
        key="roofline",
        table=work,
    )
    held = work[work["flops"] / work["bytes"] < peak / bandwidth]["part"]
    names = ", ".join({"fused": "SDPA", "ffn": "FFN"}.get(part, part) for part in held) or "none"
    st.caption(
        f"Below {peak / bandwidth:.3g} FLOPs a byte memory is the limit, above it computing (Williams et al. 2009). At "
        f"{tokens:,} tokens memory limits: {names}. Bytes in float32, each tensor read or written once."
    )
