"""Panel of one cell of a head without a softmax, rebuilt from its query, its key and the tokens between."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from inspector.export import python
from inspector.plots.chart import Chart
from inspector.sections.section import File
from inspector.text import visible
from inspector.views.attention import why
from inspector.views.components import proof
from inspector.views.figures import chart, save
from inspector.views.shell import link, problems, readings
from inspector.wording import mixers as words

if TYPE_CHECKING:
    from inspector.mixers import HeadOfMixer, MixerCell
    from inspector.trace import Trace

MOST_ERASERS = 24  # later tokens that are listed, those that erase most


def draw(trace: Trace, read: HeadOfMixer, *, query: int | None, key: int | None) -> None:
    """Draw the panel of the cell that the reader chose, where it is open; else of the weight farthest from 0.

    query, key: chosen by the reader; of a query alone the key is the query's own token.
    """
    if not st.toggle(words.WHY, key=proof.SWITCH, bind=link.bind_switch(proof.SWITCH)):
        return
    from inspector import mixers

    if query is None:
        query, key = read.query, read.key
    key = query if key is None else key
    site = read.site
    with st.container(border=True):
        st.caption(words.WHY_HELP)
        with st.container(key=proof.PLACE):
            why.choose_cell(trace, stream=site.stream, query=query, key=key, sorts=False)
            try:
                record = trace.mixer(layer=site.layer, kind=site.kind)
                cell = mixers.why(record, head=read.head, query=query, key=key, size=read.size)
            except ValueError as error:
                problems.show(str(error))
                return
            st.markdown(words.equation(cell))
            _steps(trace, cell)
        if cell.holds:
            st.caption(words.rebuilt(cell))
        else:
            problems.show(words.rebuilt(cell), what=words.NOT_REBUILT)
        _products(cell)
        _erasers(cell)


def _name(cell: MixerCell) -> str:
    return f"layer{cell.site.layer}-head{cell.head}-cell{cell.query}-{cell.key}"


def _steps(trace: Trace, cell: MixerCell) -> None:
    table = pd.DataFrame(
        {
            "step": [step.name for step in cell.steps],
            "with": [step.operand for step in cell.steps],
            "gives": [step.value for step in cell.steps],
            "what": [words.STEPS[step.name] for step in cell.steps],
        }
    )
    name = f"{trace.model.replace('/', '-')}-{_name(cell)}"
    file = File(f"{name}.csv", lambda _: table, words.STEPS_CSV)
    save.menu([file], slides=[], key="why-mixer", about=words.WHY, python=python.mixer_cell(trace, cell))
    shown = table.assign(**{name: [_digits(number) for number in table[name]] for name in ("with", "gives")})
    st.table(shown.set_index("step"))  # whose words wrap on a phone


def _digits(number: float | None) -> str:
    return "–" if number is None or np.isnan(number) else f"{number:.6g}"


def _products(cell: MixerCell) -> None:
    """Draw the products of the dimensions, where a query and a key have several."""
    if len(cell.products) < 2:
        return
    table = pd.DataFrame({"dimension": range(len(cell.products)), "product": cell.products})
    drawn = Chart(table, "dimension", "product", "bars", x_title="dimension", y_title=words.PRODUCT)
    chart.show(partial(drawn), alt=words.products_alt(len(table)), key="why-products", table=table)


def _erasers(cell: MixerCell) -> None:
    """List the later tokens that erase most of the key for the query."""
    erasers = cell.erasers
    if erasers.empty:
        return
    strongest = erasers.reindex(erasers["erased"].abs().sort_values(ascending=False).index)[:MOST_ERASERS]
    named = strongest.assign(token=[f"{at} {visible(cell.site.queries[at])}" for at in strongest["token"]])
    st.caption(words.erasers(shown=len(named), of=len(erasers)))
    readings.table(named, name=f"{_name(cell)}-erased", words=words.ERASER_COLUMNS)
