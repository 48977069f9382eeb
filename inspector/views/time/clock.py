"""The section Serial or parallel: n steps of an LSTM beside one pass of attention, counted and on the clock."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from inspector import stepwise
from inspector.plots.theme import quantity
from inspector.plots.time import clock as draw
from inspector.readings.time import clock as read
from inspector.views.figures import chart
from inspector.views.shell import measuring, sentence, widgets
from inspector.views.shell.session import Inspected
from inspector.wording.english.time import clock as words

COUNTED = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
TIMED = (32, 128, 512, 1024, 2048)
WIDTHS = ("64", "128", "256", "512")


def show(inspected: Inspected) -> None:
    """Draw the section, which asks nothing of the text."""
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        with st.container(width="content", gap="xsmall"):
            st.markdown(":small[Width d]")
            width = int(widgets.bar("Width d", WIDTHS, "serial_width", default="128"))
        tokens = widgets.number("Tokens n", "serial_tokens", default=512, first=1, last=COUNTED[-1])
    found = read.counting(tokens, width=width)
    with place:
        sentence.show(words.counting(found), words.TERMS)
    _counted(found, width=width)
    st.caption(words.formulas(found))
    _clock(width)
    st.markdown(words.conditions(found))


def _counted(found: read.Counting, *, width: int) -> None:
    table = stepwise.table(COUNTED, width=width)
    python = f"from inspector import stepwise\n\ntable = stepwise.table({list(COUNTED)}, width={width})"
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Work: FLOPs of a layer", anchor=False)
        chart.show(
            partial(
                draw.by_length,
                table,
                of="layer",
                column="flops",
                quantity="FLOPs",
                title=f"FLOPs of a layer of width {width}",
                names=words.LAYERS,
                mark=(found.crossing, f"n = 2d = {found.crossing:,}"),
            ),
            alt="FLOPs by length",
            key="clock-flops",
            python=python,
            table=table,
        )
    with right:
        st.subheader("Waiting: steps in a row", anchor=False)
        chart.show(
            partial(
                draw.by_length,
                table,
                of="layer",
                column="waiting",
                quantity="steps that wait for each other",
                title="Steps in a row of a layer",
                names=words.LAYERS,
            ),
            alt="steps that wait for each other, by length",
            key="clock-waiting",
            python=python,
            table=table,
        )
    widgets.numbers(
        [
            ("LSTM", f"{quantity(found.lstm, 'FLOPs')} in {found.tokens:,} steps", "Four gates read x and h."),
            ("Self-attention", f"{quantity(found.attention, 'FLOPs')} in 1", "Projections, scores and mix."),
            ("Whole layer", f"{quantity(found.block, 'FLOPs')} in 1", "Of a Transformer, with an FFN of width 4d."),
        ],
        of=f" at {found.tokens:,} tokens",
    )


def _clock(width: int) -> None:
    st.subheader("On this machine's clock", anchor=False)

    def work(on_progress: measuring.Watch, so_far: Callable[[stepwise.Timed], object]) -> stepwise.Timed:
        return stepwise.measure(TIMED, width=width, on_progress=on_progress, on_turn=so_far)

    timed = measuring.run(
        work,
        known=("serial or parallel", width),
        key="measure-serial",
        about=f"torch.nn's LSTM, MultiheadAttention and TransformerEncoderLayer of width {width}, random weights, are "
        f"run on one text of {TIMED[0]} to {TIMED[-1]:,} tokens; they take turns. It takes half a minute or more, and "
        "minutes with a large width; Stop keeps the turns that are done.",
    )
    if timed is None:
        return
    table = timed.table.assign(milliseconds=1000 * timed.table["seconds"])
    st.markdown(words.timing(read.timing(timed), threads=timed.threads))
    chart.show(
        partial(
            draw.by_length,
            table,
            of="run",
            column="milliseconds",
            quantity="milliseconds",
            title=f"Serial or parallel, width {width}",
            names=words.RUNS,
        ),
        alt="milliseconds by length",
        key="clock-time",
        python=f"from inspector import stepwise\n\ntimed = stepwise.measure({list(TIMED)}, width={width})\ntimed.table",
        table=timed.table,
    )
    st.caption(words.measured(timed))
