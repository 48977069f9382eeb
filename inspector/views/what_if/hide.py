"""A token is hidden from the model: what it guesses there, what it predicts, and how its attention changes."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from inspector import interventions
from inspector.interventions import Guess, Masked, effects
from inspector.plots import interventions as draw
from inspector.text import number, plain
from inspector.trace import Trace
from inspector.views.components import width
from inspector.views.figures import chart, map_options
from inspector.views.shell import boundary, caching, controls, link, problems, readings, sentence
from inspector.views.what_if import before_after, downloads, predictions, token_choice
from inspector.wording import what_if as wording
from models import LoadedModel

SHOWN = 4  # guesses drawn at most


def can(loaded: LoadedModel) -> bool:
    """Return True for a model that guesses hidden tokens, or predicts others where one is hidden from it."""
    return loaded.fills_masks or (loaded.predict is not None and loaded.tokenizer.mask_token_id is not None)


@st.fragment
@boundary.part
def explorer(trace: Trace, loaded: LoadedModel) -> None:
    """Draw everything below the choice of a change, as a fragment: a click redraws only this."""
    above = st.container()
    picture = st.container() if width.is_stacked() else None  # in a narrow window it comes first
    try:
        row = st.container(horizontal=True, vertical_alignment="center")
        with row:
            stream = controls.stream(trace.streams)
            options = map_options.choose(before=_switches)
        whole, several = st.session_state["whole"], st.session_state["several"]
        positions = token_choice.chosen(
            trace.encoding,
            name="token",
            key="chips",
            default=telling(trace, loaded),
            label=wording.WHICH_HIDDEN,
            whole=whole,
            several=several,
        )
        masked = _masked(trace, loaded, positions)
        about = masked.positions if trace.read_by(stream) is trace.encoding else ()
        opened = before_after.open_change(masked, stream=stream, options=options, about=about)
        with row:
            asked = None if loaded.fills_masks else predictions.ask(loaded, masked)
        with above:
            sentence.show(_sentence(loaded, masked, asked, opened), ("token", "head", "layer"))
        left, right = (picture, st.container()) if picture else st.columns([1, 1], gap="medium")
        with left:
            table = _guesses(masked) if asked is None else predictions.show(asked)
        with right:
            before_after.heads(opened)
        what = f"mask(positions={list(masked.positions)})"
        name = f"{trace.model.replace('/', '-')}-masked"
        files = partial(downloads.change, trace, what=what, predictions=table, name=name)
        before_after.before_and_after(opened, files=files, about=about)
        states = before_after.hidden_states(masked, positions=masked.positions if trace.target is None else ())
        before_after.draw_states(states)
        link.publish()
    except ValueError as error:
        problems.show(str(error))
        return
    st.caption(wording.GUESSED_AGAIN if asked is None else wording.writes_on(model=plain(loaded.card.title)))
    if asked is None:
        _explain(loaded, masked)
        with st.expander(wording.ALL_GUESSES):
            readings.table(table, name="guesses", height=320)
    else:
        predictions.explain(loaded, asked)
    before_after.table(opened, about=about)


def _switches() -> None:
    """Draw what concerns the choice of tokens."""
    bind = link.bind_switch("whole", default=True)
    st.toggle("Whole word", True, key="whole", bind=bind, help=wording.WHOLE_HELP)
    st.toggle("Several at once", key="several", bind=link.bind_switch("several"), help=wording.SEVERAL_HELP)


def telling(trace: Trace, loaded: LoadedModel) -> int:
    """The position to hide first."""
    return caching.cached(
        ("telling", trace.key),
        partial(interventions.most_telling, loaded, trace.encoding),
    )


def _masked(trace: Trace, loaded: LoadedModel, positions: tuple[int, ...]) -> Masked:
    return caching.cached(
        ("masked", trace.key, positions),
        lambda: interventions.mask(loaded, trace, positions=positions),
    )


def _sentence(
    loaded: LoadedModel, masked: Masked, asked: predictions.Asked | None, opened: before_after.OpenChange | str
) -> str:
    moved, several = before_after.moved(opened), len(masked.before.streams) > 1
    if asked is not None:
        tokens = [masked.before.encoding.tokens[position] for position in masked.positions]
        return wording.change(wording.hidden(tokens), effects.predicted(asked.prediction), None, moved, several=several)
    read = effects.guessed(masked.guesses, mask_token=loaded.tokenizer.mask_token)
    guess = wording.guess(read, model=plain(loaded.card.title.split(",")[0]))
    return guess if moved is None else f"{guess} {wording.most_moved(moved, several=several)}"


def _guesses(masked: Masked) -> pd.DataFrame:
    """Draw the gap, the likeliest tokens for it, and where the true one stands; the table of the guesses."""
    st.text(masked.gapped)
    table = interventions.predictions(masked)
    if len(masked.guesses) == 1:
        _draw(masked.guesses[0], table)
        readings.line(predictions.guess_numbers(masked.guesses[0], masked.unmasked[0]))
    else:
        for start in range(0, min(len(masked.guesses), SHOWN), 2):
            for column, guess in zip(st.columns(2), masked.guesses[start : start + 2], strict=False):
                with column:
                    _draw(guess, table)
    return table


def _draw(guess: Guess, table: pd.DataFrame) -> None:
    """Draw the likeliest tokens at one position; table: of interventions.predictions."""
    chart.show(
        partial(draw.guesses, guess),
        alt=f"probability of the likeliest tokens at position {guess.position}; the true one has rank {guess.rank} and "
        f"probability {number(guess.probability)}",
        key=f"guesses-{guess.position}",
        table=table[table["hidden"] & (table["position"] == guess.position)],
    )


def _explain(loaded: LoadedModel, masked: Masked) -> None:
    """Say how the guesses are made."""
    first = masked.guesses[0]
    if len(masked.guesses) > 1:
        st.caption(wording.INDEPENDENT)
    if len(masked.guesses) > SHOWN:
        st.caption(wording.first_drawn(shown=SHOWN, of=len(masked.guesses)))
    if loaded.tokenizer.mask_token in [guess.token for guess in masked.guesses]:
        st.caption(wording.MASK_THERE)
    st.caption(
        wording.guesses_read(
            vocabulary=first.vocabulary, position=first.position, together=sum(share for _, share in first.top)
        )
    )
