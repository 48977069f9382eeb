"""The section Packed texts: texts in one row, with their mask and without, held to each text alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from inspector.plots import batches as draw
from inspector.readings import batch as read
from inspector.views.figures import chart
from inspector.views.shell import sentence, widgets
from inspector.wording.english import batch as words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from inspector.views.batch.subject import Subject

CASES = {
    "with the mask": (True, True),
    "with the mask, positions running on": (True, False),
    "without the mask": (False, False),
}


def show(subject: Subject, *, said: DeltaGenerator, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Draw the section; said: the place of its sentence."""
    from inspector import batches

    alone = subject.cached(
        ("packed alone",), lambda: batches.read(batches.packer(subject.loaded), subject.texts, layout="alone")
    )
    rows = {name: subject.read("packed", masked=masked, restart=restart) for name, (masked, restart) in CASES.items()}
    tables = {name: batches.compare(row, alone) for name, row in rows.items()}
    found = read.packing(*tables.values())
    with said:
        sentence.show(words.packing(found), words.TERMS["packed"])
    total, inside = sum(alone.lengths), sum(length**2 for length in alone.lengths)
    python = (
        f"{subject.python}alone = batches.read(batches.packer(loaded), texts, layout='alone')\n"
        "table = batches.compare(batches.read(loaded, texts, layout='packed'), alone)"
    )
    every = pd.concat([table.assign(row=name) for name, table in tables.items()])
    with right:
        st.subheader("How far the last hidden states are from each text alone", anchor=False)
        chart.show(
            partial(
                draw.layouts,
                {name: 100 * float(table["relative"].mean()) for name, table in tables.items()},
                quantity="relative difference (%)",
                title="Packed against alone",
            ),
            alt="relative difference of packed texts' last hidden states from each text alone",
            key="packed-chart",
            name="batch-packed",
            python=python,
            table=every,
        )
        st.caption(
            "|packed − alone| / |alone| of a token's last hidden state, mean over tokens and texts. The mask is "
            f"block-diagonal: of {total} · {total} = {total**2:,} pairs those of one text are seen, {inside:,} at "
            "most. To a dot product with rotary or relative positions it does not matter where a text begins, for they "
            "know distances alone."
        )
    widgets.table(
        every[["row", "text", "states", "relative", "weights", "to_others"]],
        name="packed",
        words={
            "row": "packed",
            "states": "largest of a state",
            "relative": "relative",
            "weights": "largest of a weight",
            "to_others": "weight on other texts",
        },
    )
    if not subject.own:
        st.caption(
            "Packed rows are read by the same weights in this project's own Transformer, and so are the texts alone."
        )
