"""The steps of a written text: one of them, played, walked through or chosen.

Nothing is computed as it plays: all steps are there, and only this panel is drawn again.
"""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from inspector.generating import Written
from inspector.plots import attention, theme
from inspector.plots import generating as draw
from inspector.views.components.written import written
from inspector.views.shell import link, session, widgets
from inspector.views.shell.player import Player

PLAYER = Player("generate", interval=1.0, first=1)
STREAMS = {"decoder": "To the text so far", "cross": "To the source"}


def steps(made: Written, table: pd.DataFrame) -> None:
    """Draw the panel of one step; `table` has the numbers of each (step, cache_bytes, FLOPs)."""
    if PLAYER.load(made.trace.key):  # another text: its end
        link.assign("step", None)
    if PLAYER.playing:
        link.assign("step", link.remembered("step", len(made.steps)))  # the link waits until it stops
    PLAYER.panel(_panel)(made, table)


def _panel(made: Written, table: pd.DataFrame) -> None:
    last = len(made.steps)
    PLAYER.advance(last, at=partial(_at, last), go=partial(_go, last))
    step = link.number("step", default=last, last=last, first=1) or last
    if not PLAYER.playing:  # as it plays the link stays, or the browser's Back would go through every step
        link.publish()
    PLAYER.follow()
    _controls(step, last)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _text(made, step)
        _numbers(made, table, step)
    with right:
        _candidates(made, step)
    _attention(made, step)


# --- the step that is seen ---------------------------------------------------------------------------------------


def _at(last: int) -> int:
    return link.remembered("step", last)


def _go(last: int, step: int) -> None:
    link.assign("step", None if step >= last else max(step, 1))


def _stop_at(last: int, step: int) -> None:
    PLAYER.stop()
    _go(last, step)
    link.publish()  # at once, so that a run of the whole page finds it there


def _walk(last: int, by: int) -> None:
    _stop_at(last, _at(last) + by)


def _moved(slider: int, last: int) -> None:
    """Go where the reader moved the slider; a slow browser may still tell of a slider that is gone."""
    state = st.session_state
    if slider == state["generate.slider"]:
        state["generate.slider_at"] = state[f"generate.slider {slider}"]
        _stop_at(last, state["generate.slider_at"])


def _controls(step: int, last: int) -> None:
    """Draw buttons and slider."""
    if last == 1:
        st.caption("The text ended after one token.")
        return
    state = st.session_state
    with st.container(horizontal=True, vertical_alignment="bottom"):
        at, go = partial(_at, last), partial(_go, last)
        PLAYER.button(last, at=at, go=go, key="play", pause=lambda: _stop_at(last, at()))
        st.button("Step back", icon=":material/skip_previous:", on_click=_walk, args=(last, -1), shortcut="B")
        st.button("Next step", icon=":material/skip_next:", on_click=_walk, args=(last, 1), shortcut="N")
    # A slider that something else has moved is a new one: what the browser still sends of the old one counts no more.
    moved = state.setdefault("generate.slider_at", step) != step
    slider: int = state.setdefault("generate.slider", 0) + moved
    state["generate.slider"], state["generate.slider_at"] = slider, step
    st.slider("Step", 1, last, step, key=f"generate.slider {slider}", on_change=_moved, args=(slider, last))


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
        on_step=partial(_stop_at, len(made.steps)),
    )


def _candidates(made: Written, step: int) -> None:
    chosen = made.steps[step - 1]
    widgets.chart(
        draw.candidates(chosen, top=made.likeliest, mode=session.mode()),
        alt=f"the likeliest tokens of step {step}, with their probabilities",
        key="candidates",
    )
    drawn = "" if chosen.chosen.drawn is None else " A mark says what a token was drawn by, after temperature and cuts."
    st.caption(
        rf"The 5 likeliest tokens, the chosen one in full colour: $p = e^z / \sum e^z$ over all the model knows.{drawn}"
    )


def _attention(made: Written, step: int) -> None:
    sites = made.trace.sites_of("decoder")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = widgets.number("Layer", "gen_layer", default=len(sites) - 1, last=len(sites) - 1)
        mean = st.toggle("Mean over heads", True, key="gen_mean", bind=link.bind_switch("gen_mean", default=True))
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
    """Draw one stream's map up to the step."""
    trace = made.trace
    weights = session.cached(
        (trace.key, "steps", stream, layer, head),
        lambda: attention.chosen(trace, layer=layer, head=head, stream=stream)[0][made.begun - 1 :],
    )
    keys = trace.record_of(layer, stream).site.keys
    widgets.chart(
        draw.growing(
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
