"""A word is swapped for another: what is predicted, and how attention and hidden states change."""

from __future__ import annotations

from functools import partial

import streamlit as st

from inspector import interventions
from inspector.interventions import Swapped, effects
from inspector.trace import Trace
from inspector.views.figures import map_options
from inspector.views.shell import boundary, caching, controls, link, problems, sentence
from inspector.views.what_if import before_after, downloads, predictions, token_choice
from inspector.views.what_if.hide import telling
from inspector.wording import what_if as wording
from models import LoadedModel

BY = "dog"
LONGEST = 60  # characters of the other word


@st.fragment
@boundary.part
def explorer(trace: Trace, loaded: LoadedModel) -> None:
    """Draw everything below the choice of a change, as a fragment: a click redraws only this."""
    above = st.container()
    try:
        default = interventions.first_to_swap(trace.encoding)
        positions = token_choice.chosen(
            trace.encoding, name="word", key="swapped-chips", default=default, label=wording.WHICH_REPLACED
        )
        row = st.container(horizontal=True, vertical_alignment="bottom")
        with row:
            by = st.text_input(
                wording.ANOTHER_WORD,
                BY,
                max_chars=LONGEST,
                key="swap_by",
                bind=link.bind_words("swap_by", default=BY, most=LONGEST),
                width=280,
            )
            stream = controls.stream(trace.streams)
            options = map_options.choose()
            hidden = guessed_token(trace, loaded, without=range(positions[0], positions[-1] + 1))
        swapped = _swapped(trace, loaded, positions[0], by=by, hidden=hidden)
        with row:
            asked = predictions.ask(loaded, swapped)
        opened = before_after.open_change(swapped, stream=stream, options=options)
        of_text = tuple(swapped.replaced[0]) if trace.target is None else ()
        states = before_after.hidden_states(swapped, positions=of_text)
        with above:
            read = None if asked is None else effects.predicted(asked.prediction)
            several = len(trace.streams) > 1
            begin = wording.swapped(swapped.word, swapped.by)
            told = wording.change(begin, read, states.read, before_after.moved(opened), several=several)
            sentence.show(told, ("token", "head", "layer"))
        draw_states = partial(before_after.draw_states, states, name="swapped")
        table = predictions.beside(asked, states=draw_states, heads=partial(before_after.heads, opened))
        given = f"position={positions[0]}, by={by.strip()!r}" + (f", hidden={hidden}" if hidden else "")
        name = f"{trace.model.replace('/', '-')}-swapped"
        files = partial(downloads.change, trace, what=f"swap({given})", predictions=table, name=name)
        before_after.before_and_after(opened, files=files)
        if asked is not None:
            draw_states()
        link.publish()
    except ValueError as error:
        problems.show(str(error))
        return
    _texts(swapped)
    st.caption(wording.READ_AGAIN)
    predictions.explain(loaded, asked)
    before_after.table(opened)


def guessed_token(trace: Trace, loaded: LoadedModel, *, without: range = range(0)) -> tuple[int, ...]:
    """The token that a masked language model is to guess, before and after; none for another model."""
    if not loaded.fills_masks:
        return ()
    places = [place for place in interventions.maskable(trace.encoding) if place not in without]
    if not places:
        raise ValueError("the text has one word, so nothing is left to be guessed; write a longer text")
    first = telling(trace, loaded)
    return token_choice.chosen(
        trace.encoding,
        name="ask",
        key="guessed-chips",
        default=first if first in places else places[-1],
        label=wording.WHICH_GUESSED,
        behind=wording.guessed,
        whole=False,
        without=without,
    )


def _swapped(trace: Trace, loaded: LoadedModel, position: int, *, by: str, hidden: tuple[int, ...]) -> Swapped:
    return caching.cached(
        ("swapped", trace.key, position, by, hidden),
        lambda: interventions.swap(loaded, trace, position=position, by=by, hidden=hidden),
    )


def _texts(swapped: Swapped) -> None:
    """Both texts, as they were read."""
    pair = swapped.after.text_pair
    st.text(wording.read_before(second=swapped.before.text_pair, text=swapped.before.text, alone=pair is None))
    st.text(wording.read_after(text=swapped.after.text, pair=pair))
    if swapped.before.target is not None:
        st.caption(wording.SAME_TARGET)
    if swapped.word == swapped.by:
        st.caption(wording.SAME_WORD)
