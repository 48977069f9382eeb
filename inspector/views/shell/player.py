"""The player of the Generate page: one step of a written text, played, walked through or chosen.

Nothing is computed as it plays: all steps are there, and only this panel is drawn again.
"""

from __future__ import annotations

from time import monotonic

import pandas as pd
import streamlit as st

from inspector.generating import Written
from inspector.plots import attention, theme
from inspector.plots import generating as generation
from inspector.views.components.written import written
from inspector.views.shell import boundary, link, session, widgets

INTERVAL = 1.0  # seconds that a step is seen
STREAMS = {"decoder": "To the text so far", "cross": "To the source"}


def player(made: Written, table: pd.DataFrame) -> None:
    """The panel of one step; `table` has the numbers of each (step, cache_bytes, FLOPs)."""
    state, last = st.session_state, len(made.steps)
    if state.setdefault("playing_of", made.trace.key) != made.trace.key:  # another text: its end
        state["playing_of"], state["playing"] = made.trace.key, False
        link.choose("step", None)
    playing = state.setdefault("playing", False)
    if playing:
        link.choose("step", link.kept("step", last))  # the link waits until it stops
    st.fragment(boundary.part(_panel), run_every=INTERVAL if playing else None)(made, table, ticking=playing)


def _panel(made: Written, table: pd.DataFrame, *, ticking: bool) -> None:
    last = len(made.steps)
    _advance(last)
    playing: bool = st.session_state["playing"]
    step = link.chosen("step", default=last, last=last, first=1) or last
    if not playing:  # as it plays the link stays, or the browser's Back would go through every step
        link.keep()
    if playing != ticking:
        st.rerun()  # the whole page: a fragment cannot change its own clock
    _controls(step, last)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _text(made, step)
        _numbers(made, table, step)
    with right:
        _candidates(made, step)
    _attention(made, step)


# --- playing -----------------------------------------------------------------------------------------------------


def _go(step: int, last: int) -> None:
    link.choose("step", None if step >= last else max(step, 1))


def _stop_at(step: int, last: int) -> None:
    st.session_state["playing"] = False
    _go(step, last)
    link.keep()  # at once, so that a run of the whole page finds it there


def _advance(last: int) -> None:
    """One step on where the clock says so; playing ends at the last."""
    state = st.session_state
    if not state["playing"]:
        return
    if monotonic() - state["played_at"] >= 0.6 * INTERVAL:  # not for a run that another widget caused
        state["played_at"] = monotonic()
        _go(link.kept("step", last) + 1, last)
    if link.kept("step", last) >= last:
        state["playing"] = False


def _play_or_pause(last: int) -> None:
    state, step = st.session_state, link.kept("step", last)
    if state["playing"]:
        _stop_at(step, last)
    else:
        state["playing"], state["played_at"] = True, monotonic()
        _go(1 if step >= last else step, last)


def _walk(by: int, last: int) -> None:
    _stop_at(link.kept("step", last) + by, last)


def _moved(slider: int, last: int) -> None:
    """The reader moved the slider; of one that is no longer there a slow browser may still tell."""
    state = st.session_state
    if slider == state["slider"]:
        state["slider_at"] = state[f"slider {slider}"]
        _stop_at(state["slider_at"], last)


def _controls(step: int, last: int) -> None:
    """Buttons and slider."""
    if last == 1:
        st.caption("The text ended after one token.")
        return
    state = st.session_state
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Pause" if state["playing"] else "Play",
            icon=":material/pause:" if state["playing"] else ":material/play_arrow:",
            type="primary",
            key="play",
            on_click=_play_or_pause,
            args=(last,),
            shortcut="P",
        )
        st.button("Step back", icon=":material/skip_previous:", on_click=_walk, args=(-1, last), shortcut="B")
        st.button("Next step", icon=":material/skip_next:", on_click=_walk, args=(1, last), shortcut="N")
    # A slider that something else has moved is a new one: what the browser still sends of the old one counts no more.
    slider: int = state.setdefault("slider", 0) + (state.setdefault("slider_at", step) != step)
    state["slider"], state["slider_at"] = slider, step
    st.slider("Step", 1, last, step, key=f"slider {slider}", on_change=_moved, args=(slider, last))


# --- what is seen of a step --------------------------------------------------------------------------------------


def _numbers(made: Written, table: pd.DataFrame, step: int) -> None:
    row, chosen = table.iloc[step - 1], made.steps[step - 1]
    widgets.cards(
        [
            ("Step", f"{step} of {len(made.steps)}", "Each step writes one token"),
            (
                "Probability",
                theme.number(chosen.chosen.probability),
                f"Of the token that was chosen; it is number {chosen.rank} of all tokens that the model knows",
            ),
            (
                "KV cache",
                theme.quantity(chosen.cache_bytes, "B"),
                f"{chosen.cache_bytes:,} bytes, measured: keys and values of all tokens read so far",
            ),
            (
                "FLOPs",
                theme.quantity(row["flops_cached"]),
                f"Of this step: {row['flops_cached']:,} with the cache, {row['flops_uncached']:,} without",
            ),
        ],
        width=122,
    )


def _text(made: Written, step: int) -> None:
    tokens = [done.chosen.token for done in made.steps[:step]]
    probabilities = [theme.number(done.chosen.probability) for done in made.steps[:step]]
    written(
        made.texts[step - 1],
        before=made.whole.tokens[: made.begun],
        tokens=tokens,
        notes=[f"step {number}, probability {p}" for number, p in enumerate(probabilities, start=1)],
        last=len(made.steps),
        colour=theme.PART[session.mode()]["prediction"],
        key="written",
        on_step=lambda step: _stop_at(step, len(made.steps)),
    )


def _candidates(made: Written, step: int) -> None:
    chosen = made.steps[step - 1]
    widgets.chart(
        generation.candidates(chosen, top=made.likeliest, mode=session.mode()),
        alt=f"the likeliest tokens of step {step}, with their probabilities",
        key="candidates",
    )
    drawn = "" if chosen.chosen.drawn is None else " A mark says what a token was drawn by, after temperature and cuts."
    st.caption(
        rf"The 5 likeliest tokens, the chosen one in full colour: $p = e^z / \sum e^z$ over all the model knows.{drawn}"
    )


def _attention(made: Written, step: int) -> None:
    sites = [site for site in made.trace.sites if site.stream == "decoder"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = widgets.number("Layer", "gen_layer", default=len(sites) - 1, last=len(sites) - 1)
        mean = st.toggle("Mean over heads", True, key="gen_mean", bind=link.switch("gen_mean", default=True))
        number = 0 if mean else widgets.number("Head", "gen_head", default=0, last=sites[0].heads - 1)
    head = None if mean else number
    streams = [stream for stream in STREAMS if any(site.stream == stream for site in made.trace.sites)]
    for place, stream in zip(st.columns(len(streams), gap="medium"), streams, strict=True):
        with place:
            _map(made, step, stream=stream, layer=layer, head=head)
    formulas = dict.fromkeys(widgets.softmax(made.trace.record_of(layer, stream)) for stream in streams)
    st.caption(
        f"What each new token looked at as it was chosen: {' and '.join(formulas)}, no unit; a row sums to 1 and is "
        "named by the token it wrote (→). Bars and frame: the newest step."
    )
    st.caption(
        "Row $i$ of the finished map is step $i$: an earlier token never sees a later one, so its keys, values and "
        "attention never change. That is why a cache can keep them, and why nothing is computed again as this plays."
    )


def _map(made: Written, step: int, *, stream: str, layer: int, head: int | None) -> None:
    """One stream's map up to the step."""
    trace = made.trace
    weights = session.cached(
        (trace.key, "steps", stream, layer, head),
        lambda: attention.chosen(trace, layer=layer, head=head, stream=stream)[0][made.begun - 1 :],
    )
    keys = trace.record_of(layer, stream).site.keys
    widgets.chart(
        generation.growing(
            weights,
            queries=[f"→ {done.chosen.token}" for done in made.steps],
            keys=keys,
            step=step,
            known=made.begun + step - 1 if stream == "decoder" else len(keys),
            title=f"{STREAMS[stream]}: {attention.title(layer, head).lower()}",
            mode=session.mode(),
        ),
        alt=f"what each step up to {step} attended to: {STREAMS[stream].lower()}",
        key=f"attention-{stream}",
    )
