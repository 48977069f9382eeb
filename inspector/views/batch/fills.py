"""The section Where a mask leaks: the weight on padding for every fill and dtype, before and after the scale."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.plots import batches as draw
from inspector.plots.theme import number
from inspector.readings import batch as read
from inspector.views.batch import choices
from inspector.views.figures import chart
from inspector.views.shell import sentence, widgets
from inspector.wording.english import batch as words

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

    from inspector.batches import Batch, Layout
    from inspector.views.batch.subject import Subject

PADDED: tuple[Layout, ...] = ("right", "left", "packed")
ORDERS = {"after": "Mask after the scale", "before": "Mask before the scale"}
WAYS = {"filled": "Filled in", "added": "Added"}
MOST_PARAMETERS = 20_000_000  # of a model that is built anew for each fill


def show(subject: Subject, *, said: DeltaGenerator, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Draw the section; said: the place of its sentence."""
    from inspector import batches

    with left:
        layout = choices.layout(PADDED, name="padded")
        order = widgets.bar("Order", list(ORDERS), "mask_order", words=ORDERS.__getitem__)
        way = widgets.bar("Way", list(WAYS), "mask_way", words=WAYS.__getitem__)
        with st.container(horizontal=True, gap="small"):
            head = choices.head(subject)
    site, before, added = head.site, order == "before", way == "added"
    batch = subject.read(layout)

    def make() -> pd.DataFrame:
        return batches.leaks(
            batch,
            layer=site.layer,
            head=head.head,
            stream=site.stream,
            call=site.call,
            before_scale=before,
            added=added,
        )

    table = subject.cached((layout, "leaks", site.stream, site.layer, site.call, head.head, before, added), make)
    found = read.filling(table, batch=batch, before_scale=before, added=added)
    where = "other texts" if found.other_texts else "padding"
    with said:
        sentence.show(words.filling(found), words.TERMS["fills"])
    python = (
        f"{subject.python}batch = batches.read(loaded, texts, layout={layout!r})\n"
        f"table = batches.leaks(batch, {head.python}, before_scale={before}, added={added})"
    )
    with right:
        st.subheader(f"Weight on {where}, {head.name}", anchor=False)
        chart.show(
            partial(draw.leaks, table, names=words.FILLS, where=where),
            alt=f"weight on {where} for each fill in float32, bfloat16 and float16",
            key="leaks",
            name=f"batch-leaks-{layout}",
            python=python,
            table=table,
        )
    st.caption(_formula(batch, found, head))
    widgets.table(
        table.assign(fill=[words.FILLS[fill] for fill in table["fill"]]),
        name="leaks",
        words={
            "leak": "mean weight",
            "largest": "largest",
            "hidden": "on all masked keys",
            "change": "change from −∞",
            "problem": "no weights",
        },
    )
    if layout != "packed":
        _model(subject, layout)
    _nothing(batch, head)


def _formula(batch: Batch, found: read.Filling, head: choices.Head) -> str:
    from inspector import batches

    row = min(batch.rows, key=lambda one: int((one.owner >= 0).sum()))
    real = int((row.owner >= 0).sum())
    pads = len(row.owner) - real
    function = row.trace.record_of(head.site.layer, head.site.stream, call=head.site.call).function
    dot, factor = batches.own_score(function)
    score = "QK^T" if dot else "S"
    masked = "{} + M" if found.added else r"\mathrm{{fill}}_M({})"
    inside = f"f\\,({masked.format(score)})" if found.before_scale else masked.format(f"f\\,{score}")
    causal = " What comes later is masked with the same M." if head.site.stream == "decoder" else ""
    tiny = math.exp(-10)
    how = "M is added to a masked score" if found.added else "M takes a masked score's place"
    counted = (
        f" With scores of 0 the shortest text's {real} keys and {pads} of padding would leave "
        rf"$\frac{{{pads} e^M}}{{{pads} e^M + {real}}}$: {number(pads * tiny / (pads * tiny + real))} for M = −10, "
        f"{number(pads / (pads + real))} for × 0."
        if pads and not found.before_scale
        else ""
    )
    return rf"$A = \mathrm{{softmax}}({inside})$ with the factor f = {number(factor)}; {how}.{counted}{causal}"


def _model(subject: Subject, layout: Layout) -> None:
    """Draw what other fills do to the whole model."""
    from inspector import batches

    st.subheader("Through the whole model", anchor=False)
    size = sum(tensor.numel() for tensor in subject.loaded.network.parameters())
    small = subject.own and size <= MOST_PARAMETERS
    with st.spinner("Reading the batch under other masks"):
        table = subject.cached(
            (layout, "drift", small),
            lambda: batches.drift(subject.loaded, subject.texts, layout=layout, refilled=small),
        )
    st.markdown(words.drifting(read.drifting(table, layout=layout)))
    widgets.table(
        table.assign(fill=[words.FILLS.get(fill, fill) for fill in table["fill"]]),
        name="drift",
        words={
            "drift": "largest move of a real token",
            "relative": "mean relative move",
            "to_padding": "weight on padding",
            "padding_states": "mean size in padding",
        },
    )
    if not small:
        why = f"it has {size:,} parameters" if subject.own else "a model of transformers has its own mask"
        st.caption(
            f"Other fills are read through models of this project of up to {MOST_PARAMETERS:,} parameters; {why}."
        )


def _nothing(batch: Batch, head: choices.Head) -> None:
    """Draw what becomes of a row that may look at nothing."""
    from inspector import batches

    st.subheader("A query that may look at nothing", anchor=False)
    site = head.site
    row = batch.rows[0]
    scores = row.trace.scores(layer=site.layer, head=head.head, stream=site.stream, call=site.call)
    queries, _ = row.owners(site.stream)
    first = scores[queries >= 0][-1]
    found = batches.nothing_to_see(first[first > -1e30])
    named = {f"filled with {fill}": f"filled with {said}" for fill, said in words.FILLS.items()} | words.FILLS
    widgets.table(
        found.assign(mask=[named.get(mask, mask) for mask in found["mask"]]),
        name="nothing",
        words={"weight": "weight of the first key", "sum": "sum of the row"},
    )
    st.caption(
        "Every key of one of text 0's queries masked, as in a text of nothing but padding. −∞ gives 0/0, which is NaN; "
        "a finite fill makes all scores alike, so that the row is spread evenly over what must not be seen; torch's "
        "fused kernel gives 0."
    )
