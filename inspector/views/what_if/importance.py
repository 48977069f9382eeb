"""Each head dropped alone: how far the output moves without it (Michel et al. 2019, 3.2), as a cell for each head."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pandas as pd
import streamlit as st

from inspector import interventions
from inspector.components.grid import Measure, importance_bytes, importance_top
from inspector.interventions import Dropped, importance
from inspector.interventions.importance import Importance
from inspector.text import number
from inspector.trace import Trace
from inspector.views.components.grid import grid
from inspector.views.shell import progress, readings, site_words
from inspector.wording import what_if as wording
from models import LoadedModel
from models.attention.dropping import ModelHead

MOST = 600  # heads, a run of the model for each
TITLES: dict[Measure, str] = {
    "moved": wording.MOVES,
    "surprise": wording.SURPRISES,
}
COLUMNS = ["stream", "layer", "head", "moved", "surprise", "call"]  # the last of a layer that attends more than once


def show(
    trace: Trace,
    loaded: LoadedModel,
    dropped: Dropped,
    *,
    stream: str,
    hidden: tuple[int, ...],
    toggle: Callable[[int, int], None],
) -> None:
    """Draw the button and what was measured so far; `toggle` is called before the run after a click on a head."""
    every = interventions.every_head(trace)
    st.subheader(wording.ALONE, anchor=False)
    st.caption(wording.alone_about(heads=len(every)))
    if len(every) > MOST:
        st.info(wording.too_many_heads(most=MOST))
        return
    measured = _measured((trace.key, hidden))
    if len(measured) < len(every):
        place = st.empty()
        with place.container():
            _measure(trace, loaded, every, measured, hidden=hidden)
        if len(measured) == len(every):
            place.empty()
    if measured:
        _draw(pd.DataFrame(measured, columns=COLUMNS), dropped, stream=stream, total=len(every), toggle=toggle)


def _measure(
    trace: Trace, loaded: LoadedModel, every: list[ModelHead], measured: list[Importance], *, hidden: tuple[int, ...]
) -> None:
    """Draw the button, and when it was pressed run the model for each head.

    Streamlit ends the runs at the next look at the bar when the reader presses Stop, changes something or leaves; what
    was measured by then stays.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        label = wording.drop_each(heads=len(every), begun=bool(measured))
        started = st.button(label, icon=":material/play_arrow:", key="alone-start")
        stop = st.empty()
    if not started:
        return
    stop.button("Stop", icon=":material/stop:", key="alone-stop")
    bar = progress.Bar(st.empty())
    bar.draw(len(measured), len(every), "Starting")
    for of_head in importance.measure(loaded, trace, heads=every[len(measured) :], hidden=hidden):
        measured.append(of_head)
        bar.draw(len(measured), len(every), wording.of_heads(done=len(measured), of=len(every)))


def _measured(key: Hashable) -> list[Importance]:
    """Return the list of what was measured of this text, which grows during the runs."""
    if st.session_state.get("importance.of") != key:
        st.session_state["importance.of"], st.session_state["importance.measured"] = key, []
    measured: list[Importance] = st.session_state["importance.measured"]
    return measured


def _draw(
    table: pd.DataFrame, dropped: Dropped, *, stream: str, total: int, toggle: Callable[[int, int], None]
) -> None:
    here = table[table["stream"] == stream]
    sites = dropped.before.sites_of(stream)
    rows = {(site.layer, site.call): row for row, site in enumerate(sites)}
    here = here.assign(layer=[rows[place] for place in zip(here["layer"], here["call"], strict=True)])
    crossed = [(rows[head.layer, head.call], head.head) for head in dropped.heads if head.stream == stream]
    shown: tuple[Measure, ...] = ("moved", "surprise") if table["surprise"].notna().any() else ("moved",)
    for place, by in zip(st.columns(2, gap="medium"), shown, strict=False):
        with place:
            most = number(importance_top(here, by))
            st.markdown(f"**{TITLES[by]}**")
            grid(
                importance_bytes(
                    here,
                    by=by,
                    layers=len(sites),
                    heads=sites[0].heads,
                    crossed=crossed,
                    names=site_words.layer_names(sites),
                ),
                key=f"grid-alone-{by}",
                on_open=toggle,
            )
            if by == "moved":
                st.caption(wording.moved_read(most=most))
            else:
                st.caption(wording.surprise_read(most=most))
    if len(table) < total:
        st.caption(wording.measured_so_far(done=len(table), of=total))
    st.caption(wording.ALONE_GRID)
    with st.expander(wording.ALONE_IN_NUMBERS):
        told = table if table["call"].any() else table.drop(columns="call")
        readings.table(told.sort_values("moved", ascending=False), name="heads-alone", height=320)
