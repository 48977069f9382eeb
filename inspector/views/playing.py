"""The player of the Generate page: one step of a written text, played, walked through or chosen.

Nothing is computed as it plays: all steps are there, and only this panel is drawn again.
"""

from __future__ import annotations

from time import monotonic

import pandas as pd
import streamlit as st

from inspector.generating import Written
from inspector.plots import attention, generation, theme
from inspector.views import link, parts, session

INTERVAL = 1.0  # seconds that a step is seen
STREAMS = {"decoder": "The text so far", "cross": "The source"}


def player(written: Written, table: pd.DataFrame) -> None:
    """The panel of one step; `table` has the numbers of each (step, cache_bytes, FLOPs)."""
    state, last = st.session_state, len(written.steps)
    if state.setdefault("playing_of", written.trace.key) != written.trace.key:  # another text: its end
        state["playing_of"], state["playing"], state["step"] = written.trace.key, False, last
    link.check_number("step", default=last, last=last, first=1)
    playing = state.setdefault("playing", False)
    st.fragment(_panel, run_every=INTERVAL if playing else None)(written, table, ticking=playing)


def _panel(written: Written, table: pd.DataFrame, *, ticking: bool) -> None:
    last = len(written.steps)
    _advance(last)
    if st.session_state["playing"] != ticking:
        st.rerun()  # the whole page: a fragment cannot change its own clock
    step = _controls(last)
    _numbers(written, table, step)
    _text(written, step)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        _candidates(written, step)
    with right:
        _attention(written, step)


# --- playing -----------------------------------------------------------------------------------------------------


def _advance(last: int) -> None:
    """One step on where the clock says so; playing ends at the last."""
    state = st.session_state
    if not state["playing"]:
        return
    if monotonic() - state["played_at"] >= 0.6 * INTERVAL:  # not for a run that another widget caused
        state["played_at"] = monotonic()
        state["played"] = state["step"] = min(state["played"] + 1, last)
    if state["played"] >= last:
        state["playing"] = False


def _play_or_pause(last: int) -> None:
    state = st.session_state
    state["playing"] = not state["playing"]
    if state["playing"]:
        state["played"] = 1 if state.get("step", last) >= last else state["step"]
        state["step"], state["played_at"] = state["played"], monotonic()


def _go(step: int) -> None:
    st.session_state["playing"], st.session_state["step"] = False, step


def _moved() -> None:
    """The reader moved the slider, which stops the player; its own move may come back from the browser one late."""
    state = st.session_state
    if state["playing"] and abs(state["step"] - state["played"]) > 1:
        state["playing"] = False


def _controls(last: int) -> int:
    """Buttons and slider -> the step, from 1."""
    if last == 1:
        st.caption("The text ended after one token.")
        return 1
    playing, at = st.session_state["playing"], st.session_state.get("step", last)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Pause" if playing else "Play",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            type="primary",
            key="play",
            on_click=_play_or_pause,
            args=(last,),
            shortcut="P",
        )
        st.button("Step back", icon=":material/skip_previous:", on_click=_go, args=(max(at - 1, 1),), shortcut="B")
        st.button("Next step", icon=":material/skip_next:", on_click=_go, args=(min(at + 1, last),), shortcut="N")
    step: int = st.slider("Step", 1, last, last, key="step", bind="query-params", on_change=_moved)
    return step


# --- what is seen of a step --------------------------------------------------------------------------------------


def _numbers(written: Written, table: pd.DataFrame, step: int) -> None:
    row, chosen = table.iloc[step - 1], written.steps[step - 1]
    parts.cards(
        [
            ("Step", f"{step} of {len(written.steps)}", "Each step writes one token"),
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
                "FLOPs, this step",
                theme.quantity(row["flops_cached"]),
                f"{row['flops_cached']:,} with the cache; {row['flops_uncached']:,} without",
            ),
        ],
        width=170,
    )


def _text(written: Written, step: int) -> None:
    st.text(written.texts[step - 1])


def _candidates(written: Written, step: int) -> None:
    chosen = written.steps[step - 1]
    parts.chart(
        generation.candidates(chosen, mode=session.mode()),
        alt=f"the likeliest tokens of step {step}, with their probabilities",
        key="candidates",
    )


def _attention(written: Written, step: int) -> None:
    trace = written.trace
    sites = [site for site in trace.sites if site.stream == "decoder"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = parts.number("Layer", "gen_layer", default=len(sites) - 1, last=len(sites) - 1)
        mean = st.toggle("Mean over heads", True, key="gen_mean", bind="query-params")
        number = 0 if mean else parts.number("Head", "gen_head", default=0, last=sites[0].heads - 1)
    head = None if mean else number
    known = written.begun + step - 1  # tokens that the newest query can see
    for stream in dict.fromkeys(site.stream for site in trace.sites if site.stream in STREAMS):
        weights, _, keys = attention.chosen(trace, layer=layer, head=head, stream=stream)
        parts.chart(
            generation.growing(
                weights[written.begun - 1 :],
                queries=[step.chosen.token for step in written.steps],
                keys=keys,
                step=step,
                known=known if stream == "decoder" else len(keys),
                title=f"{STREAMS[stream]}: {attention.title(layer, head).lower()}",
                mode=session.mode(),
            ),
            alt=f"what each step up to {step} attended to in {STREAMS[stream].lower()}",
            key=f"attention-{stream}",
        )
