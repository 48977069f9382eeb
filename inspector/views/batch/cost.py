"""The section Time and memory: what each layout computes, what of it is padding, and how long it takes here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.plots import batches as draw
from inspector.readings import batch as read
from inspector.views.figures import chart
from inspector.views.shell import measuring, sentence, widgets
from inspector.wording.english import batch as words

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from inspector.batches import Timed
    from inspector.costs.clock import LayerShape
    from inspector.views.batch.subject import Subject


def show(subject: Subject, *, said: DeltaGenerator, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Draw the section; said: the place of its sentence."""
    from inspector import batches
    from inspector.costs import clock

    lengths = subject.read("alone").lengths
    shape = clock.layer_shape(subject.loaded.config)
    streams = {site.stream for site in subject.sites}
    layers = len([site for site in subject.sites if site.stream == subject.sites[0].stream])
    table = batches.work(shape, lengths, layers=layers)
    if subject.loaded.shape == "encoder-decoder":  # which packs no texts
        table = table[table["layout"] != "packed"]
    with said:
        sentence.show(words.costing(read.costing(table, texts=len(lengths))), words.TERMS["cost"])
    names = [words.LAYOUTS[layout] for layout in table["layout"]]
    python = (
        f"{subject.python}from inspector.costs import clock\n\n"
        f"table = batches.work(clock.layer_shape(loaded.config), {list(lengths)}, layers={layers})"
    )
    with right:
        st.subheader("FLOPs of the layers' matrix products", anchor=False)
        chart.show(
            partial(
                draw.layouts,
                dict(zip(names, (table["flops"] / 1e6).tolist(), strict=True)),
                quantity="million FLOPs",
                title="What each layout computes",
            ),
            alt="FLOPs of each layout",
            key="batch-flops",
            python=python,
            table=table,
        )
        part = " of the encoder" if "cross" in streams else ""
        st.caption(_formula(shape, table, layers=layers, part=part))
    widgets.table(
        table.assign(layout=names, padding=100 * table["padding"]),
        name="layouts",
        words={
            "padding": "padding (%)",
            "pairs": "scores a head",
            "needed": "needed",
            "flops": "FLOPs",
            "score_bytes": "scores of a layer (bytes)",
        },
    )
    _clock(subject)


def _formula(shape: LayerShape, table: pd.DataFrame, *, layers: int, part: str) -> str:
    row = table.iloc[0]
    rows, tokens, wide = int(row["rows"]), int(row["columns"]), shape.heads * shape.head_width
    return (
        rf"$L\,B\,(2nP + 4n^2HE + 2nF)$ for B rows of n tokens: P = {shape.projection_parameters:,} numbers in the "
        f"matrices of attention, F = {shape.ffn_parameters:,} in the FFN's, H E = {wide}. Padded, the {layers} layers"
        f"{part} take {layers} · {rows} · (2 · {tokens} · P + 4 · {tokens}² · {wide} + 2 · {tokens} · F) = "
        f"{int(row['flops']):,}. "
        "Padding costs as much as text. A kernel that knows the blocks of a packed row (FlashAttention's for lengths "
        "that differ) computes the needed scores alone."
    )


def _clock(subject: Subject) -> None:
    from inspector import batches

    st.subheader("On this machine's clock", anchor=False)

    def work(on_progress: measuring.Watch, so_far: Callable[[Timed], object]) -> Timed:
        return batches.measure(subject.loaded, subject.texts, on_progress=on_progress, on_turn=so_far)

    timed = measuring.run(
        work,
        known=("layouts", subject.name, subject.texts),
        key="measure-layouts",
        about="Each layout's whole forward is run on this machine; they take turns. It takes some seconds.",
    )
    if timed is None:
        return
    found = timed.table
    chart.show(
        partial(
            draw.layouts,
            {
                words.LAYOUTS[name]: 1000 * seconds
                for name, seconds in zip(found["layout"], found["seconds"], strict=True)
            },
            quantity="milliseconds",
            title="Time of each layout",
        ),
        alt="milliseconds of each layout",
        key="batch-clock",
        python=f"{subject.python}table = batches.measure(loaded, texts).table",
        table=found,
    )
    st.caption(
        f"Medians of {timed.repeats} runs that take turns, {timed.clock}. A busy machine moves these numbers."
        + ("" if subject.own or timed.problems else " All run the same weights in this project's own Transformer.")
        + "".join(f" {words.LAYOUTS[name]} is not timed: {why}." for name, why in timed.problems.items())
    )
