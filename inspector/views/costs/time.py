"""Milliseconds beside FLOPs: the clock, which runs only when it is asked, and the roofline of any device."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.costs import clock
from inspector.plots import costs as draw
from inspector.readings import costs as read
from inspector.views.figures import chart
from inspector.views.shell import process_settings, progress, queue, session, widgets
from inspector.wording.english import costs as words
from models import failures

if TYPE_CHECKING:
    from inspector.costs.clock import Measured
    from inspector.views.costs.subject import Subject

LENGTHS = (64, 128, 256, 512, 1024)
MEASURED = """import inspector, models

measured = inspector.costs.measure(models.load({model!r}), {lengths})
table = measured.table"""


def show(subject: Subject) -> None:
    """Draw the clock where the model is loaded, and the roofline."""
    try:
        with failures.told("Reading a layer's shape", instead="Choose another model."):
            shape = clock.layer_shape(subject.config)
    except ValueError as error:
        session.show_problem(str(error), what="Cannot be timed")
        return
    st.subheader("On this machine's clock")
    if subject.loaded is None:
        st.text("The clock runs layers of loaded models; choose This model above to time one.")
    else:
        _clock(subject)
    st.subheader("On a device of yours")
    _roofline(shape, subject.tokens)


def _clock(subject: Subject) -> None:
    results = st.session_state.setdefault("costs.measured", {})
    place = st.empty()
    with place.container():
        asked = st.button("Measure", icon=":material/timer:", key="measure", type=widgets.main_button())
        st.caption(f"Runs one layer of this model's shape at {', '.join(map(str, LENGTHS))} tokens, some seconds.")
    if asked:
        try:
            results[subject.key] = _measured(subject)
        except ValueError as error:
            session.show_problem(str(error), what="Cannot be timed")
    measured: Measured | None = results.get(subject.key)
    if measured is None:
        return
    st.markdown(words.measured(measured))
    table = read.times(measured)
    chart.show(
        partial(draw.clock, table),
        alt="Milliseconds of attention, eager and SDPA, and of the FFN, against text length",
        key="clock",
        python=MEASURED.format(model=subject.loaded.card.id if subject.loaded else "", lengths=list(LENGTHS)),
        table=measured.table,
    )
    st.caption(
        f"Medians of {measured.repeats} runs that take turns, {measured.clock}, {measured.dtype} on {measured.device}. "
        "FLOPs predict the fused kernel better than eager attention: eager writes every map to memory and reads it "
        "again for the softmax, which computes little for each byte. A busy machine moves these numbers."
    )
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


def _measured(subject: Subject) -> Measured:
    """Run the clock, with a bar and a Stop; what is stopped leaves nothing."""
    assert subject.loaded is not None
    process_settings.use_threads()
    place = st.empty()
    bar = progress.Bar(place, stop="stop measuring")
    with failures.told("The clock", instead="Choose another model."), queue.turn("The clock"):
        found = clock.measure(
            subject.loaded,
            LENGTHS,
            on_progress=lambda done, total: bar.draw(done, total, f"Run {done} of {total}"),
        )
    place.empty()
    return found


def _roofline(shape: clock.LayerShape, tokens: int) -> None:
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
    names = ", ".join("SDPA" if part == "fused" else part for part in held) or "none"
    st.caption(
        f"Below {peak / bandwidth:.3g} FLOPs a byte memory is the limit, above it computing (Williams et al. 2009). At "
        f"{tokens:,} tokens memory limits: {names}. Bytes in float32, each tensor read or written once."
    )
