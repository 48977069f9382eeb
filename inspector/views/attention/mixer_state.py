"""Charts of what only layers without a softmax have: a state that decays, is written to, and erased from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector import maps
from inspector.export import python
from inspector.plots.chart import Chart
from inspector.text import named
from inspector.views.figures import chart, matrix
from inspector.views.shell import caching
from inspector.wording import mixers as words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from inspector.trace import MixerRecord, MixerSite, Trace


def draw(trace: Trace, site: MixerSite, head: int) -> None:
    """Draw the section, closed until it is asked for; nothing for a layer without a state that decays."""
    from inspector import mixers

    record = trace.mixer(layer=site.layer, kind=site.kind)
    if not mixers.has_state(record):
        return
    with st.expander(words.STATE, key="state of a head", on_change="rerun") as opened:
        if opened.open:
            _show(trace, record, head)


def _show(trace: Trace, record: MixerRecord, head: int) -> None:
    from inspector import mixers

    site = record.site
    key = (trace.key, "state of a mixer", site.layer, site.kind, head)
    name = f"{trace.model.replace('/', '-')}-layer{site.layer}-head{head}"
    table = caching.cached(key, lambda: mixers.by_token(record, head))
    lines = python.mixer_state(trace, site=site, head=head)
    largest = int(table["state"].idxmax())
    st.markdown(words.state(named(site.queries, largest), size=float(table["state"].max())))
    shown = ["state", "decay", *(["strength"] if table["strength"].nunique() > 1 else [])]
    for column in shown:
        _by_token(table, column, name=name, tokens=site.queries, lines=lines["table"])
    if not site.by_channel:
        decays = caching.cached((*key[:-1], "decays"), lambda: mixers.decays(record))
        drawn = Chart(decays, "head", "decay", "bars", x_title=words.HEAD, y_title="decay")
        chart.show(
            partial(drawn),
            alt=words.DECAYS,
            key="mixer-decays",
            heading=words.DECAYS,
            name=f"{name}-decays",
            python=lines["decays"],
        )
    if not mixers.erases(record):
        return
    if len(site.queries) > maps.WHOLE:
        st.caption(words.too_long_to_erase(most=maps.WHOLE))
        return
    shares = caching.cached((*key, "erased"), lambda: mixers.erased_by(record, head))
    matrix.show(
        matrix.Panel(shares.astype(np.float32), rows=site.queries, columns=site.queries),
        row_title=words.LATER,
        column_title=words.EARLIER,
        name=f"{name}-erased-by",
        key="mixer-erased",
        quantity=words.ERASED_SHARE,
        heading=words.ERASED_BY,
        sentence=words.erased_by(shares, site.queries),
        python=lines["erased"],
    )


def _by_token(table: pd.DataFrame, column: str, *, name: str, tokens: Sequence[str], lines: str) -> None:
    title = words.STATE_TITLES[column]
    drawn = Chart(table, "position", column, "lines", tokens=list(tokens), x_title=words.TOKEN, y_title=column)
    chart.show(partial(drawn), alt=title, key=f"mixer-{column}", heading=title, name=f"{name}-{column}", python=lines)
