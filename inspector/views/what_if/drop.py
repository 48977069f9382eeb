"""Heads are dropped, one or any set: what the rest of the model makes of it."""

from __future__ import annotations

from collections import Counter
from functools import partial

import streamlit as st

from inspector import interventions, maps
from inspector.components.grid import grid_bytes, roles, widths
from inspector.interventions import Dropped, effects
from inspector.trace import Trace
from inspector.views.components.grid import grid
from inspector.views.figures import map_options
from inspector.views.shell import boundary, caching, controls, link, overview, problems, sentence, site_words
from inspector.views.what_if import before_after, downloads, importance, predictions
from inspector.views.what_if.swap import guessed_token
from inspector.wording import phrases
from inspector.wording import what_if as wording
from models import LoadedModel
from models.attention.dropping import ModelHead
from models.formatting import layer_name


@st.fragment
@boundary.part
def explorer(trace: Trace, loaded: LoadedModel) -> None:
    """Draw everything below the choice of a change, as a fragment: a click redraws only this."""
    above = st.container()
    try:
        row = st.container(horizontal=True, vertical_alignment="center")
        with row:
            stream = controls.stream(trace.streams)
            options = map_options.choose()
            hidden = guessed_token(trace, loaded)
        names = {name_of(head, trace): head for head in interventions.every_head(trace)}
        chosen = link.several("drop", default=(_first(trace),), allowed=list(names), but="")
        dropped = _dropped(trace, loaded, tuple(names[name] for name in chosen), hidden=hidden)
        _choice(dropped, first=_first(trace), stream=stream)
        with row:
            asked = predictions.ask(loaded, dropped)
        opened = before_after.open_change(dropped, stream=stream, options=options)
        states = before_after.hidden_states(dropped)
        with above:
            read = None if asked is None else effects.predicted(asked.prediction)
            several = len(trace.streams) > 1
            begin = wording.dropped(dropped.heads, several=several)
            told = wording.change(begin, read, states.read, before_after.moved(opened), several=several)
            sentence.show(told, ("head", "layer"))
        draw_states = partial(before_after.draw_states, states)
        table = predictions.beside(asked, states=draw_states, heads=partial(before_after.heads, opened))
        heads = [tuple(head)[: 4 if head.call else 3] for head in dropped.heads]
        what = f"drop(heads={heads}" + (f", hidden={hidden})" if hidden else ")")
        name = f"{trace.model.replace('/', '-')}-dropped"
        files = partial(downloads.change, trace, what=what, predictions=table, name=name)
        before_after.before_and_after(opened, files=files)
        if asked is not None:
            draw_states()
        link.publish()
    except ValueError as error:
        problems.show(str(error))
        return
    st.caption(wording.DROPPED_HEAD)
    predictions.explain(loaded, asked)
    before_after.table(opened)
    toggle = partial(_toggle, dropped=dropped, stream=stream)
    importance.show(trace, loaded, dropped, stream=stream, hidden=hidden, toggle=toggle)


def name_of(head: ModelHead, trace: Trace) -> str:
    """A head in the link: "1.5", or where there are several streams "cross.1.5"; of a second attention "1.5.1"."""
    several = len(trace.streams) > 1
    place = f"{head.layer}.{head.head}" + (f".{head.call}" if head.call else "")
    return f"{head.stream}.{place}" if several else place


def _toggle(row: int, number: int, *, dropped: Dropped, stream: str) -> None:
    """A head was clicked: it is dropped too, or speaks again; one stays dropped."""
    site = dropped.before.sites_of(stream)[row]
    _choose(set(dropped.heads) ^ {ModelHead(stream, site.layer, number, site.call)}, dropped)


def _choose(heads: set[ModelHead], dropped: Dropped) -> None:
    every = interventions.every_head(dropped.before)
    dropped_now = [head for head in every if head in (heads or set(dropped.heads))]
    link.assign("drop", tuple(name_of(head, dropped.before) for head in dropped_now))
    before_after.open_head(None, None)


def _first(trace: Trace) -> str:
    """The head that is open on the Attention page."""
    first = trace.sites[0]
    layer, number = overview.first_head(trace, stream=first.stream)
    layer, number = link.remembered("layer", layer), link.remembered("head", number)
    call = link.remembered("call", 0)
    there = [site for site in trace.sites if (site.stream, site.layer, site.call) == (first.stream, layer, call)]
    known = bool(there) and number < there[0].heads
    return name_of(
        ModelHead(first.stream, layer, number, call) if known else ModelHead(first.stream, first.layer, 0), trace
    )


def _dropped(trace: Trace, loaded: LoadedModel, heads: tuple[ModelHead, ...], *, hidden: tuple[int, ...]) -> Dropped:
    return caching.cached(
        ("dropped", trace.key, heads, hidden),
        lambda: interventions.drop(loaded, trace, heads=heads, hidden=hidden),
    )


def _choice(dropped: Dropped, *, first: str, stream: str) -> None:
    """Every head to click, whole layers, and what is dropped in words; first: the head that is dropped by default."""
    trace = dropped.before
    sites = trace.sites_of(stream)
    rows = {(site.layer, site.call): row for row, site in enumerate(sites)}
    crossed = [(rows[head.layer, head.call], head.head) for head in dropped.heads if head.stream == stream]
    left, right = st.columns([2, 3], gap="medium")
    with left:
        shown = maps.arrange(trace, stream=stream)
        pictures, _ = overview.thumbnails(trace, shown, stream=stream)
        data = grid_bytes(
            pictures,
            tokens=len(shown.keys.labels),
            scale="sqrt",
            notes=roles.notes(overview.measures(trace, stream=stream)),
            names=site_words.layer_names(sites),
            widths=widths(sites),
            crossed=crossed,
        )
        grid(data, key="grid-drop", on_open=partial(_toggle, dropped=dropped, stream=stream))
        st.caption(wording.DROP_GRID)
    with right:
        whole = [row for row, count in Counter(row for row, _ in crossed).items() if count == sites[row].heads]
        if st.session_state.get("whole-layers") != whole:
            st.session_state["whole-layers"] = whole
        st.pills(
            "Whole layers",
            range(len(sites)),
            format_func=lambda row: sites[row].name,
            selection_mode="multi",
            key="whole-layers",
            on_change=partial(_toggle_layers, dropped=dropped, stream=stream, before=whole),
        )
        st.text(_in_words(dropped))
        st.button(
            wording.ONLY_OPEN,
            icon=":material/restart_alt:",
            on_click=_reset,
            disabled=[name_of(head, trace) for head in dropped.heads] == [first],
        )


def _toggle_layers(dropped: Dropped, stream: str, before: list[int]) -> None:
    """A layer was clicked: all its heads are dropped, or all speak again; `before`: rows of the grid."""
    now, heads = set(st.session_state["whole-layers"]), set(dropped.heads)
    for row, site in enumerate(dropped.before.sites_of(stream)):
        if row in now ^ set(before):
            all_of_it = {ModelHead(stream, site.layer, head, site.call) for head in range(site.heads)}
            heads = heads | all_of_it if row in now else heads - all_of_it
    _choose(heads, dropped)


def _reset() -> None:
    link.assign("drop", None)
    before_after.open_head(None, None)


def _in_words(dropped: Dropped) -> str:
    """Say how many of all heads are dropped, and which, by stream and layer."""
    every = len(interventions.every_head(dropped.before))
    by_layer: dict[tuple[str, int, int], list[str]] = {}
    for stream, layer, head, call in dropped.heads:
        by_layer.setdefault((stream, layer, call), []).append(str(head))
    several = len(dropped.before.streams) > 1
    lines = [
        f"{f'{stream}, ' * several}{layer_name(layer, call)}: head{'s' * (len(heads) > 1)} {', '.join(heads)}"
        for (stream, layer, call), heads in sorted(by_layer.items())
    ]
    return "\n".join([f"{len(dropped.heads)} of {phrases.count_of(every, 'head')} dropped", *lines])
