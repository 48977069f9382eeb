"""Two to four panels, each with its own model, text, stream, layer and head; what is chosen lives in the link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Literal

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from inspector import alignment, maps, mixers
from inspector.alignment import Number, TokenAxis
from inspector.components.head import HeadMessage, LinkedTokens, SharedLayout
from inspector.examples import EXAMPLES
from inspector.export import python
from inspector.plots import attention
from inspector.text import plain
from inspector.trace import Array, AttentionRecord, AttentionSite, MixerSite, Trace
from inspector.views.components import width
from inspector.views.components.head import Choice, Step, head
from inspector.views.figures.map_options import MapOptions
from inspector.views.shell import (
    available_models,
    controls,
    link,
    map_words,
    open_site,
    overview,
    problems,
    recording_notes,
    session,
    site_words,
    variants,
)
from inspector.views.shell.session import Inspected
from inspector.wording import compare as wording
from inspector.wording import mixers as mixer_words

NAMES = ("A", "B", "C", "D")
NARROW = 96  # pixels of a list of layers or of heads
LINE = 60  # characters of a panel's text under its controls
SETTINGS = (
    "model",
    "text",
    "stream",
    "mixer",
    "layer",
    "call",
    "head",
    "mean",
)  # of a panel, in the link as a_model, a_text, ...
LONG = wording.long(whole=maps.WHOLE, window=maps.WINDOW)
Preset = Literal["A and B", "layers", "heads", "models", "texts"]
FILL = "fill"  # key of the list of what fills the panels
ANOTHER = "another"  # in that list: one more panel


@dataclass(frozen=True)
class Panel:
    """One map to compare. whole: the trace's arrangement; shown: the compared part of it (all in a short text).

    Of a layer that mixes tokens without softmax attention the weights have a sign, and are no shares.
    """

    name: str
    trace: Trace
    whole: maps.Arrangement
    site: AttentionSite | MixerSite
    head: int | None

    @property
    def stream(self) -> str:
        """The stream of the attention."""
        return self.site.stream

    @property
    def attends(self) -> bool:
        """True for a map of shares, by softmax attention."""
        return not isinstance(self.site, MixerSite)

    @property
    def record(self) -> AttentionRecord:
        """The recorded inputs of the attention."""
        return self.trace.record_of(self.site.layer, self.stream, call=self.site.call)

    @property
    def row(self) -> int:
        """The index of the attention among those of its stream."""
        return [site for site in self.trace.mixing_sites_of(self.stream) if site.kind == self.site.kind].index(
            self.site
        )

    @property
    def is_long(self) -> bool:
        """True if only the beginning is compared."""
        return self.whole.is_long

    @cached_property
    def shown(self) -> maps.Arrangement:
        """The groups of tokens that are compared."""
        return self.whole.begin(maps.WINDOW) if self.is_long else self.whole

    @cached_property
    def weights(self) -> Array:
        """The map [queries, keys]."""
        return self.between(self.shown)

    def between(self, shown: maps.Arrangement) -> Array:
        """The map between other groups of the same tokens."""
        at = self.site
        if isinstance(at, MixerSite):
            assert self.head is not None  # `_place` gives one
            read = mixers.reader(self.trace.mixer(layer=at.layer, kind=at.kind), self.head)
            return maps.rows(shown, read, queries=slice(None))[1]
        return maps.weights(self.trace, shown, layer=at.layer, head=self.head, stream=at.stream, call=at.call)

    @property
    def top(self) -> float:
        """The end of the map's own colour scale."""
        return float(np.abs(self.weights).max()) or 1.0

    @property
    def axes(self) -> tuple[TokenAxis, TokenAxis]:
        """Queries and keys, to be aligned with those of other panels."""
        return alignment.axes(self.trace, self.shown, stream=self.stream)

    @property
    def compared(self) -> python.ComparedMap:
        """The panel as Python lines name it."""
        at = self.site
        begin = maps.WINDOW if self.is_long else None
        return python.ComparedMap(self.trace, self.whole, at.layer, self.head, at.stream, at.call, begin, at.kind)

    @property
    def place(self) -> str:
        """The stream where there are several, the layer and the head: "layer 1, head 7"."""
        if isinstance(self.site, MixerSite):
            assert self.head is not None  # `_place` gives one
            return mixer_words.place(self.site, self.head)
        several = len(self.trace.streams) > 1
        stream = self.stream if several else None
        return attention.title(self.site.layer, self.head, stream, call=self.site.call).lower()

    @property
    def title(self) -> str:
        """The panel's title."""
        site, head = self.site, self.head
        more = "" if head is None or isinstance(site, MixerSite) else site_words.in_title(site, head)
        return f"{self.name}: {self.place}{more}"

    @property
    def model(self) -> str:
        """The model's name, without what the list of models says of it."""
        return available_models.name(self.trace.model)


def key(name: str, setting: str) -> str:
    """Return the key of a panel's widget, which is also its name in the link."""
    return f"{name.lower()}_{setting}"


def opened_elsewhere(inspected: Inspected) -> tuple[int, int, int]:
    """(layer, head, call) that the Attention page shows: where this page begins."""
    layer, head, call = opened_anew(inspected)
    return link.remembered("layer", layer), link.remembered("head", head), link.remembered("call", call)


def opened_anew(inspected: Inspected) -> tuple[int, int, int]:
    """(layer, head, call) that a first visit opens: what the link need not say."""
    trace = inspected.trace
    return *overview.first_head(trace, stream=trace.streams[0]), 0


# --- which panels ------------------------------------------------------------------------------------------------


def names() -> tuple[str, ...]:
    """The panels that are there."""
    count = link.number("panels", default=2, first=2, last=len(NAMES)) or 2
    return NAMES[:count]


def presets(inspected: Inspected, names: Sequence[str], *, opened: tuple[int, int, int]) -> None:
    """Draw the list of what fills all panels at once, or adds one."""
    offered = dict(wording.PRESETS)
    if variants.side_b() is None:  # without another side both were one model
        del offered["A and B"]
    if len(names) < len(NAMES):
        offered[ANOTHER] = wording.ANOTHER

    def take() -> None:
        chosen, st.session_state[FILL] = st.session_state[FILL], None  # so that the same can be chosen again
        if chosen == ANOTHER:
            link.assign("panels", len(names) + 1)
        elif chosen is not None:
            _fill(chosen, inspected, names, opened)

    st.selectbox(
        wording.FILL_WITH,
        list(offered),
        index=None,
        format_func=offered.__getitem__,
        key=FILL,
        on_change=take,
        placeholder=wording.FILL_WITH,
        label_visibility="collapsed",
        width=360,
    )


def places(names: Sequence[str]) -> tuple[DeltaGenerator, list[DeltaGenerator], list[DeltaGenerator]]:
    """The places of what concerns all panels, and of the controls and the map of each panel and last of the difference.

    Two maps and their difference stand in one row, more in rows of two. Controls stand over their map, in rows of their
    own, so that maps begin at one height whatever is chosen over them. In a narrow window one stands below the other.
    """
    bar = st.container(horizontal=True, vertical_alignment="center", gap="small")
    count = len(names) + 1
    if width.is_stacked():
        stacked = [(st.container(), st.container()) for _ in range(count)]
        return bar, [over for over, _ in stacked], [map for _, map in stacked]
    across = 3 if count == 3 else 2
    controls, maps = list[DeltaGenerator](), list[DeltaGenerator]()
    for _ in range(0, count, across):
        controls += st.columns(across, gap="medium")
        maps += st.columns(across, gap="medium")
    return bar, controls[:count], maps[:count]


def _fill(preset: Preset, inspected: Inspected, names: Sequence[str], opened: tuple[int, int, int]) -> None:
    trace, (layer, number, call) = inspected.trace, opened
    sites = [site for site in trace.sites if site.stream == trace.sites[0].stream]
    row = open_site.at(sites, layer=layer, call=call)
    model, beside = trace.model, variants.side_b()
    sides = [model, model if beside is None else beside]
    models = sides * 2 if preset == "A and B" else [model, *_others(model)]
    texts = ["", *(text for text in EXAMPLES.values() if text != trace.text)]
    for place, name in enumerate(names):
        settings: dict[str, str | int | bool] = {
            "model": models[place] if preset in ("models", "A and B") else model,
            "text": texts[place] if preset == "texts" else "",
            "layer": sites[(row + place) % len(sites) if preset == "layers" else row].layer,
            "call": sites[(row + place) % len(sites) if preset == "layers" else row].call,
            "head": (number + place) % sites[row].heads if preset == "heads" else number,
            "mean": preset == "models",
        }
        if trace.mixers:
            settings["mixer"] = AttentionSite.kind
        for setting, value in settings.items():
            assign(name, setting, value)


def _others(model: str) -> list[str]:
    """All other models: trained ones first, of these the ones of the same shape, else in the list's order."""
    others = [id for id in available_models.ids() if id != model]
    shape = available_models.shape(model if model in available_models.ids() else others[0])
    return sorted(others, key=lambda id: (not available_models.trained(id), available_models.shape(id) != shape))


def _remove(name: str, names: Sequence[str]) -> None:
    """Remove a panel; the panels behind it move up."""
    state = st.session_state
    for here, following in pairwise(names[names.index(name) :]):
        for setting in SETTINGS:
            if key(following, setting) in state:
                assign(here, setting, state[key(following, setting)])
    state[key(names[-1], "text")] = ""
    link.assign("panels", len(names) - 1)


# --- one panel ---------------------------------------------------------------------------------------------------


def assign(name: str, setting: str, value: str | int | bool) -> None:
    """Change a setting of a panel before the run that follows."""
    if setting == "model":
        link.assign(key(name, setting), str(value))  # in the link by its id, in the widget by its name
    else:
        st.session_state[key(name, setting)] = value


def open_in(name: str, layer: int, number: int, call: int = 0) -> None:
    """Show this head in a panel."""
    for setting, value in (("layer", layer), ("call", call), ("head", number), ("mean", False)):
        assign(name, setting, value)


def choose(
    name: str, names: Sequence[str], inspected: Inspected, *, opened: tuple[int, int, int], options: MapOptions
) -> Panel | None:
    """Draw a panel's controls and return its map; None, with the reason in the page, for a text that cannot be read."""
    model = _model(name, inspected)
    place = st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall")
    with place:
        chosen = st.container(horizontal=True, gap="xsmall", width="content")
        more = st.popover(wording.MORE, width="content")
    with more:
        mean = st.toggle(wording.MEAN_OVER_HEADS, key=key(name, "mean"), bind=link.bind_switch(key(name, "mean")))
        text = st.text_area(
            f"Text {name}", key=key(name, "text"), height=68, placeholder="The sidebar's text", persist_state="session"
        )
        if len(names) > 2:
            st.button(
                f"Remove {name}", icon=":material/close:", key=f"remove-{name}", on_click=_remove, args=(name, names)
            )
    try:
        trace = session.panel_trace(inspected, model=model, text=text)
        with chosen:
            stream = controls.stream(trace.streams, key=key(name, "stream"))
        whole = maps.arrange(trace, stream=stream, hide_special=options.hide, merge_words=options.merge)
    except ValueError as error:
        problems.show(str(error))
        return None
    with chosen:
        anew = opened_anew(inspected)
        if not (mean or link.followed()):  # a head's field is bound to the address where it is drawn
            _carry(name, trace.sites_of(stream), opened, anew=anew)
        kind = _kind(name, trace, stream)
        site: AttentionSite | MixerSite
        site, number = (
            _place(name, trace, stream, anew, mean=mean)
            if kind == AttentionSite.kind
            else _place_of_mixer(name, trace, stream, kind)
        )
    recording_notes.badge(model, trace)
    if text.strip():
        st.caption(wording.own_text(text=plain(_beginning(text)), name=name))
    if text.strip() and trace.cut is not None:
        st.warning(plain(str(trace.cut)), icon=":material/content_cut:")
    panel = Panel(name, trace, whole, site, number)
    try:
        return panel if panel.attends or panel.weights.size else None
    except ValueError as error:  # a map that is not what the layer did
        problems.show(str(error))
        return None


def _model(name: str, inspected: Inspected) -> str:
    """The choice of a panel's model; first the one that the page shows."""
    current, widget = inspected.trace.model, key(name, "model")
    known = {id: available_models.title(id) for id in available_models.ids()}
    known = known if current in known else {current: current, **known}
    st.session_state[widget] = link.choice(widget, default=current, options=list(known))
    return st.selectbox(
        f"Model {name}",
        list(known),
        key=widget,
        format_func=known.__getitem__,
        on_change=lambda: link.assign(widget, st.session_state[widget]),
    )


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE else f"{line[: LINE - 1]}…"


def _carry(
    name: str, sites: Sequence[AttentionSite], opened: tuple[int, int, int], *, anew: tuple[int, int, int]
) -> None:
    """Choose what is open elsewhere where the reader and the link chose nothing yet; the link then holds it."""
    by = NAMES.index(name)
    (site, number), (first, head) = (open_site.further(sites, place, by=by) for place in (opened, anew))
    for setting, value, default in (("layer", site.layer, first.layer), ("head", number, head)):
        widget = key(name, setting)
        if value != default and widget not in st.session_state and widget not in st.query_params:
            st.session_state[widget] = value
            st.query_params[widget] = str(value)


def _place(
    name: str, trace: Trace, stream: str, anew: tuple[int, int, int], *, mean: bool
) -> tuple[AttentionSite, int | None]:
    """Choose layer and head, None for the mean over heads; anew: what a first visit opens."""
    sites = trace.sites_of(stream)
    first, number = open_site.further(sites, anew, by=NAMES.index(name))
    site = controls.layer(sites, key(name, "layer"), default=first, call=key(name, "call"), width=NARROW)
    widget = key(name, "head")
    if not mean:
        return site, controls.listed(
            "Head", widget, range(site.heads), default=min(number, site.heads - 1), width=NARROW
        )
    st.text_input("Head", wording.MEAN, key=f"{widget}-mean", disabled=True, width=NARROW)
    if widget in st.session_state:  # Streamlit forgets what no field shows
        st.session_state[widget] = st.session_state[widget]
    return site, None


def _kind(name: str, trace: Trace, stream: str) -> str:
    """Choose how the panel's layer mixes tokens, where the model does it in several ways."""
    kinds = list(dict.fromkeys((AttentionSite.kind, *(site.kind for site in trace.mixing_sites_of(stream)))))
    if len(kinds) == 1:
        return kinds[0]
    widget = key(name, "mixer")
    bind = link.bind_choice(widget, default=kinds[0], options=kinds)
    return st.selectbox(mixer_words.MIXES_BY, kinds, key=widget, bind=bind, width=2 * NARROW)


def _place_of_mixer(name: str, trace: Trace, stream: str, kind: str) -> tuple[MixerSite, int]:
    """Choose layer and head of the layers that mix tokens in a way."""
    sites = [site for site in trace.mixer_sites if site.stream == stream and site.kind == kind]
    said = mixer_words.mixing_by(kind)
    site = controls.layer(sites, key(name, "layer"), call=key(name, "call"), default=sites[0], width=NARROW, said=said)
    if site.by_channel:
        number = controls.number(mixer_words.CHANNEL, key(name, "head"), default=0, last=site.heads - 1, width=NARROW)
        return site, number
    return site, controls.listed("Head", key(name, "head"), range(site.heads), default=0, width=NARROW)


def beside(panels: Sequence[Panel], common: maps.Arrangement | None) -> tuple[SharedLayout, SharedLayout]:
    """The tokens of all maps that stand beside each other: for the panels, and for the map of their difference.

    All get one origin, and one cell size; where the difference is of far fewer words than there are tokens, the panels
    alone do. common: the tokens or words of the difference, where there is one.
    """
    shown = [(panel.shown.queries.labels, panel.shown.keys.labels) for panel in panels]
    alone = SharedLayout.around(shown)
    every = SharedLayout.around([*shown, (common.queries.labels, common.keys.labels)]) if common else alone
    return (every if every.rows else replace(every, rows=alone.rows, columns=alone.columns)), every


def draw(
    panel: Panel,
    *,
    top: float,
    options: MapOptions,
    numbers: tuple[tuple[Number, ...], tuple[Number, ...]],
    beside: SharedLayout,
    named: tuple[int, int] | None,
) -> None:
    """Draw the panel's map, its colours from 0 to `top`, or to its own where its weights have a sign.

    numbers: of its queries and keys, see alignment.numbers. named: the cell that the page's sentence names.
    """
    data = HeadMessage(
        panel.weights,
        queries=panel.shown.queries.labels,
        keys=panel.shown.keys.labels,
        title=panel.title,
        scale=options.scale,
        vmax=top if panel.attends else panel.top,
        diverging=not panel.attends,
        linked=LinkedTokens("compare", *numbers),
        beside=beside,
        lines=options.lines,
        marked=named,
    ).to_bytes()
    head(data, key=f"map-{panel.name}", on_event=partial(_step, panel))


def formula(panels: Sequence[Panel]) -> str:
    """Write the formula of the panels' weights; one formula for each panel where they differ."""
    formulas = {panel.name: _formula(panel) for panel in panels}
    if len(set(formulas.values())) == 1:
        return f"{next(iter(formulas.values()))}."
    return " ".join(f"{name}: {written}." for name, written in formulas.items())


def _formula(panel: Panel) -> str:
    return (
        mixer_words.FORMULAS[panel.site.kind] if isinstance(panel.site, MixerSite) else map_words.softmax(panel.record)
    )


def _step(panel: Panel, event: Choice | Step) -> None:
    """The keys [ and ] take a panel to the head before or after."""
    if isinstance(event, Step) and panel.head is not None:
        count = panel.site.heads
        st.session_state[key(panel.name, "head")] = (panel.head + event.by) % count
