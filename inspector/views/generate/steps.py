"""The steps of a written text: one of them, played, walked through or chosen.

Nothing is computed as it plays: all steps are there, and only this panel is drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from inspector.generating import WrittenText
from inspector.generating import steps as written_steps
from inspector.plots import attention, theme
from inspector.plots import generating as draw
from inspector.text import number, quantity
from inspector.trace import AttentionSite
from inspector.views.components import width
from inspector.views.components.written import written
from inspector.views.figures import chart, matrix
from inspector.views.shell import available_models, link, sentence, session, widgets
from inspector.views.shell.player import Player
from inspector.wording import generate as wording
from models import formatting
from models.loaded import Shape

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

PLAYER = Player("generate", interval=1.0, first=1)
STREAMS = {"decoder": wording.TO_THE_TEXT, "cross": wording.TO_THE_SOURCE}
OFF = 0.01  # difference of a probability that is more than rounding, in half precision too
MOST_SHOWN = 300  # characters of a source
TERMS = ("token", "probability", "attention", "KV cache")


def steps(made: WrittenText, table: pd.DataFrame, *, limits: str, python: str, shape: Shape) -> None:
    """Draw the panel of one step.

    table: the numbers of each step. limits: what the model does not do well, "" where that is not known. python: the
    lines that write the text. It opens at the step at which the model was least sure.
    """
    if PLAYER.load(made.trace.key):  # another text: its own first step to see
        link.assign("step", None)
    if PLAYER.playing:
        link.assign("step", _at(made))  # the link waits until it stops
    PLAYER.panel(_panel)(made, table, limits, python, shape)


def _panel(made: WrittenText, table: pd.DataFrame, limits: str, python: str, shape: Shape) -> None:
    last = len(made.steps)
    PLAYER.advance(last, at=partial(_at, made), go=partial(_go, last))
    step = link.number("step", default=written_steps.least_sure(made), last=last, first=1) or last
    if not PLAYER.playing:  # as it plays the link stays, or the browser's Back would go through every step
        link.publish()
    PLAYER.follow()
    opening = st.container()
    streams = ["decoder", *(["cross"] if shape == "encoder-decoder" else [])]
    places = _places(len(streams))
    with places.controls:
        site, head = _controls(made, step)
    with places.text:
        _text(made, step)
        _numbers(made, table, step)
        _about(made, limits)
    with places.candidates:
        _candidates(made, step, python=python)
    look = None
    for place, stream in zip(places.maps, streams, strict=True):
        with place:
            look = _map(made, step, stream=stream, site=site, head=head, python=python)
    _explain(made, site, streams)
    with opening:
        sentence.show(wording.step(written_steps.step(made, step, look=look)), TERMS)


@dataclass(frozen=True)
class _Places:
    """Places for the controls, for the text, for what could come next, and for a map of each stream."""

    controls: DeltaGenerator
    text: DeltaGenerator
    candidates: DeltaGenerator
    maps: Sequence[DeltaGenerator]


def _places(maps: int) -> _Places:
    """Make the places: the maps beside the text, or in a narrow window the text, the controls and the maps."""
    if width.is_stacked():
        text, controls, *below = (st.container() for _ in range(maps + 3))
        return _Places(controls, text, below[-1], below[:-1])
    controls = st.container()
    left, *right = st.columns([2, 3] if maps == 1 else 1 + maps, gap="medium")
    return _Places(controls, left.container(), left.container(), right)


# --- the step that is seen ---------------------------------------------------------------------------------------


def _at(made: WrittenText) -> int:
    return link.remembered("step", written_steps.least_sure(made))


def _go(last: int, step: int) -> None:
    link.assign("step", min(max(step, 1), last))


def _stop_at(last: int, step: int) -> None:
    PLAYER.stop()
    _go(last, step)
    link.publish()  # at once, so that a run of the whole page finds it there


def _walk(made: WrittenText, by: int) -> None:
    _stop_at(len(made.steps), _at(made) + by)


def _moved(slider: int, last: int) -> None:
    """Go where the reader moved the slider; a slow browser may still tell of a slider that is gone."""
    state = st.session_state
    if slider == state["generate.slider"]:
        state["generate.slider_at"] = state[f"generate.slider {slider}"]
        _stop_at(last, state["generate.slider_at"])


def _controls(made: WrittenText, step: int) -> tuple[AttentionSite, int | None]:
    """Draw buttons, slider and options; return whose maps are drawn, and the head, None for the mean of all."""
    last = len(made.steps)
    if last == 1:
        st.caption(wording.ONE_TOKEN)
        return _options(made)
    state = st.session_state
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        # Until the reader has chosen a step, Play begins with the first.
        at, go = partial(link.remembered, "step", last), partial(_go, last)
        PLAYER.button(last, at=at, go=go, key="play", pause=lambda: _stop_at(last, at()))
        st.button("Back", icon=":material/skip_previous:", on_click=_walk, args=(made, -1), shortcut="B")
        st.button("Next", icon=":material/skip_next:", on_click=_walk, args=(made, 1), shortcut="N")
        # A slider that something else has moved is a new one: what the browser still sends of the old one counts no
        # more.
        moved = state.setdefault("generate.slider_at", step) != step
        slider: int = state.setdefault("generate.slider", 0) + moved
        state["generate.slider"], state["generate.slider_at"] = slider, step
        st.slider(
            "Step",
            1,
            last,
            step,
            key=f"generate.slider {slider}",
            on_change=_moved,
            args=(slider, last),
            label_visibility="collapsed",
        )
        return _options(made)


def _options(made: WrittenText) -> tuple[AttentionSite, int | None]:
    """Draw the popover of what the reader changes of the maps."""
    sites = made.trace.sites_of("decoder")
    with st.popover("Options", icon=":material/tune:"):
        site = widgets.layer(sites, "gen_layer", call="gen_call", default=sites[-1])
        mean = st.toggle(wording.MEAN_OVER_HEADS, True, key="gen_mean", bind=link.bind_switch("gen_mean", default=True))
        return site, None if mean else widgets.number("Head", "gen_head", default=0, last=site.heads - 1)


# --- what is seen of a step --------------------------------------------------------------------------------------


def _text(made: WrittenText, step: int) -> None:
    if made.source is not None:
        st.text(wording.source(text=formatting.shortened(made.trace.text, MOST_SHOWN)))
    tokens = [done.chosen.token for done in made.steps]
    probabilities = [number(done.chosen.probability) for done in made.steps]
    text, whole = made.texts[step - 1], made.texts[-1]
    written(
        text,
        rest=whole[len(text) :] if whole.startswith(text) else "",
        before=made.whole.tokens[: made.begun],
        tokens=tokens,
        notes=[f"step {number}, probability {p}" for number, p in enumerate(probabilities, start=1)],
        step=step,
        playing=PLAYER.playing,
        colour=theme.PART[session.mode()]["prediction"],
        key="written",
        on_step=partial(_stop_at, len(made.steps)),
    )


def _numbers(made: WrittenText, table: pd.DataFrame, step: int) -> None:
    row, chosen = table.iloc[step - 1], made.steps[step - 1]
    facts = [
        wording.step_of(of=len(made.steps), step=step),
        wording.probability_of(probability=chosen.chosen.probability, rank=chosen.rank),
        wording.cache_of(held=chosen.cache_bytes),
        f"{quantity(row['flops_cached'])}FLOPs",
    ]
    st.markdown(" · ".join(facts))


def _about(made: WrittenText, limits: str) -> None:
    """Say at the text what it is worth."""
    if made.trace.model and not available_models.trained(made.trace.model):
        st.markdown(wording.UNTRAINED)
    elif limits:
        st.caption(limits)


def _candidates(made: WrittenText, step: int, *, python: str) -> None:
    chosen = made.steps[step - 1]
    st.markdown(wording.COULD_COME)
    chart.show(
        partial(draw.candidates, chosen, top=made.likeliest),
        alt=f"the likeliest tokens of step {step}, with their probabilities",
        key="candidates",
        name=f"step-{step}",
        python=f"{python}\nmade.steps[{step - 1}].candidates",
    )
    drawn = "" if chosen.chosen.drawn is None else wording.DRAWN_BY
    st.caption(wording.candidates_read(drawn=drawn))


def _explain(made: WrittenText, site: AttentionSite, streams: Sequence[str]) -> None:
    """Say what the maps are."""
    trace = made.trace
    formulas = dict.fromkeys(widgets.softmax(trace.record_of(site.layer, stream, call=site.call)) for stream in streams)
    st.caption(wording.maps_read(formulas=" and ".join(formulas)))
    if made.off > OFF:
        st.warning(
            wording.differs(off=made.off),
            icon=":material/warning:",
        )


def _map(
    made: WrittenText, step: int, *, stream: str, site: AttentionSite, head: int | None, python: str
) -> written_steps.StrongestKey | None:
    """Draw one stream's map up to the step; return what its newest row looked at most."""
    trace = made.trace
    weights: NDArray[np.float32] = session.cached(
        (trace.key, "steps", stream, site.layer, site.call, head),
        lambda: attention.chosen(trace, layer=site.layer, head=head, stream=stream, call=site.call)[0][
            made.begun - 1 :
        ],
    )
    keys = trace.record_of(site.layer, stream, call=site.call).site.keys
    known = made.begun + step - 1 if stream == "decoder" else len(keys)
    so_far = weights.copy()
    so_far[step:], so_far[:, known:] = np.nan, np.nan
    place = f'layer={site.layer}, stream="{stream}"' + (f", call={site.call}" if site.call else "")
    one = f"head={head}, " if head is not None else ""
    st.markdown(f"**{STREAMS[stream]}**")
    st.caption(attention.title(site.layer, head, call=site.call))
    matrix.show(
        matrix.Panel(so_far, rows=[f"→ {done.chosen.token}" for done in made.steps], columns=keys, marked=[step - 1]),
        row_title=wording.NEW_TOKEN,
        column_title="key",
        numbered="both",
        top=float(weights.max()) or None,
        name=f"generate-{stream}",
        key=f"attention-{stream}",
        python=f"{python}\nweights = made.trace.attention({one}{place}){'' if one else '.mean(axis=0)'}"
        f"[{made.begun - 1} : {made.begun - 1 + step}]",
    )
    return written_steps.most(
        weights[step - 1, :known], keys[:known], layer=site.layer, head=head, source=stream == "cross"
    )
