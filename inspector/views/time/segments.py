"""The section Memory over segments: a decoder reads the text piece by piece, and keeps what each layer read before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.plots.time import segments as draw
from inspector.readings.time import segments as read
from inspector.views.figures import chart, matrix
from inspector.views.shell import available_models, sentence, session, widgets
from inspector.views.shell.stand_in import Shown
from inspector.wording.english.time import segments as words
from models import failures

if TYPE_CHECKING:
    import models
    from inspector.trace import Trace

CANNOT = "does not read from left to right, one segment after the other"


def show(shown: Shown) -> None:
    """Draw the section; shown: a text that a decoder has read."""
    try:
        _section(shown.trace, shown.loaded)
    except ValueError as error:
        session.show_problem(str(error))


def _section(trace: Trace, loaded: models.LoadedModel) -> None:
    from inspector import segments

    encoding = trace.encoding
    ids, tokens = encoding.ids[: segments.MOST], encoding.tokens[: segments.MOST]
    usual = max(1, min(8, len(ids) // 3))
    said = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        segment = widgets.number("Tokens of a segment", "piece", default=usual, first=1, last=len(ids))
        memory = widgets.number("Tokens of memory", "kept", default=usual, last=len(ids))
        name = loaded.card.id
        with failures.told("Reading in segments", instead="Choose another model."):
            found = session.cached(
                ("segments", name, available_models.version(name), tuple(ids), segment, memory),
                lambda: segments.read(loaded, ids, segment=segment, memory=memory),
            )
        last = len(found.starts) - 1
        at = widgets.number("Segment shown", "shown", default=last if last < 2 else last - 1, last=last)
        best = read.remembering(found, at)
        layer = widgets.number("Layer", "piece_layer", default=best[0], last=len(found.maps) - 1)
        head = widgets.number("Head", "piece_head", default=best[1], last=len(found.maps[0]) - 1)
    told = read.memory(found)
    with said:
        sentence.show(words.sentence(told), words.terms(told))
    python = (
        f"import inspector, models\nfrom inspector import segments\n\nloaded = models.load({name!r})\n"
        f"trace = inspector.record(loaded, {trace.text!r})\n"
        f"found = segments.read(loaded, trace.encoding.ids[:{len(ids)}], segment={segment}, memory={memory})"
    )
    if len(encoding.ids) > len(ids):
        st.caption(words.cut(len(ids), len(encoding.ids)))
    left, right = st.columns(2, gap="medium")
    rows, start, first = read.place(found, at)
    with left:
        share = read.of_memory(found, at, layer=layer, head=head)
        st.subheader(words.map_title(at=at, layer=layer, head=head, share=share), anchor=False)
        matrix.show(
            matrix.Panel(
                found.maps[layer][head][rows, first : rows.stop],
                rows=tokens[rows],
                columns=tokens[first : rows.stop],
                borders=(start - first,) if start > first else (),
            ),
            row_title="query",
            column_title="key",
            top=1.0,
            name=f"segment-{at}-layer-{layer}-head-{head}",
            key="segment-map",
            python=f"{python}\nweights = found.maps[{layer}][{head}][{rows.start}:{rows.stop}, {first}:{rows.stop}]",
        )
    with right:
        st.subheader("How far each token is from one pass", anchor=False)
        chart.show(
            partial(draw.apart, found, tokens=tokens),
            alt="difference of each token's last hidden state from the one pass, in percent",
            key="segments-apart",
            python=f"{python}\nfound.changed, found.at_most",
        )
    widgets.numbers(words.cards(told))
    st.markdown(f"Reach of the last token: {words.reach(told)}.")
    for formula in words.FORMULAS:
        st.latex(formula)
    st.caption(words.caption(told))
