"""The predictions of a model before and after a change, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from inspector import interventions
from inspector.interventions import Change, Guess, Prediction
from inspector.plots import interventions as draw
from inspector.text import number, plain
from inspector.views.figures import chart
from inspector.views.shell import caching, controls, link, readings
from inspector.wording import what_if as wording
from models import LoadedModel

END = "…"  # what comes after the text's end


@dataclass(frozen=True, eq=False)
class Asked:
    """A prediction before and after a change, and those at every position, of interventions.surprises."""

    prediction: Prediction
    everywhere: pd.DataFrame
    position: int


def ask(loaded: LoadedModel, change: Change) -> Asked | None:
    """Predict one position before and after, of the reader's choice where there are several; None without a head.

    The choice is drawn where this is called.
    """
    if loaded.predict is None:
        return None
    everywhere = caching.cached(
        (change.before.key, change.after.key, "surprises"), lambda: interventions.surprises(loaded, change)
    )
    position = _position(loaded, everywhere)
    prediction = caching.cached(
        (change.before.key, change.after.key, "prediction", position),
        lambda: interventions.predict(loaded, change, position=position),
    )
    return Asked(prediction, everywhere, position)


def show(asked: Asked) -> pd.DataFrame:
    """Draw the likeliest tokens before and after, with how the true one fares; the table of it."""
    prediction = asked.prediction
    table = interventions.prediction_table(prediction)
    chart.show(
        partial(draw.predictions, prediction),
        alt="probabilities of the likeliest tokens before and after",
        key="predictions",
        sentence=wording.PREDICTED,
        table=table,
    )
    readings.line(_numbers(prediction))
    return table


def beside(asked: Asked | None, *, states: Callable[[], None], heads: Callable[[], None]) -> pd.DataFrame | None:
    """Draw the predictions beside the heads, and return their table; `states` in place of predictions that are none."""
    left, right = st.columns([1, 1], gap="medium")
    with left:
        if asked is None:
            states()
        table = None if asked is None else show(asked)
    with right:
        heads()
    return table


def explain(loaded: LoadedModel, asked: Asked | None) -> None:
    """Say what was predicted and how, and show the numbers of every position."""
    if asked is None:
        st.caption(wording.no_tokens(model=plain(loaded.card.title)))
        return
    prediction = asked.prediction
    st.caption(
        wording.predictions_read(
            vocabulary=prediction.before.vocabulary, position=asked.position, whose=_whose(loaded, prediction)
        )
    )
    if len(asked.everywhere) > 1:
        with st.expander(wording.EVERY_POSITION):
            readings.table(asked.everywhere, name="surprises", height=320)
            st.caption(wording.POSITIONS_READ)


def _position(loaded: LoadedModel, everywhere: pd.DataFrame) -> int:
    """The position to ask about: of a masked language model the hidden one, else the reader's choice."""
    places = everywhere["position"].tolist()
    if loaded.fills_masks or len(places) == 1:
        return int(places[0])
    most = int(everywhere.loc[everywhere["divergence"].idxmax(), "position"])
    position: int = link.several("ask", default=(most,), allowed=places, but="")[0]
    if st.session_state.get("ask-next") != [position]:
        st.session_state["ask-next"] = [position]
    tokens = dict(zip(places, everywhere["truth"].fillna(END), strict=True))
    with st.popover(wording.predicted(tokens[position], position)):
        controls.token_chips(
            tokens,
            key="ask-next",
            on_change=lambda: _choose(position),
            label=wording.WHICH_PREDICTED,
        )
    return position


def _choose(before: int) -> None:
    """A chip was clicked: that token is asked about; one stays chosen."""
    added = set(st.session_state["ask-next"]) - {before}
    if added:
        link.assign("ask", (added.pop(),))


def _whose(loaded: LoadedModel, prediction: Prediction) -> str:
    if not prediction.true:
        return wording.TEXT_ENDS
    return wording.true_token(fills_masks=loaded.fills_masks)


def _numbers(prediction: Prediction) -> list[tuple[str, str, str]]:
    """Write the cards on what changed for the token in question."""
    before, after = prediction.before, prediction.after
    whose = "true token" if prediction.true else "token likeliest before"
    return [
        (
            "Its rank",
            f"{before.rank:,} → {after.rank:,}",
            wording.rank_about(whose=whose, vocabulary=before.vocabulary),
        ),
        (
            "Its probability",
            f"{number(before.probability)} → {number(after.probability)}",
            wording.probability_about(whose=whose),
        ),
        (
            "Surprise",
            wording.surprise(prediction.surprise),
            wording.surprise_about(whose=whose),
        ),
        (
            wording.DIVERGENCE_OF_GUESSES,
            number(prediction.divergence),
            wording.DIVERGENCE_ABOUT,
        ),
    ]


def guess_numbers(guess: Guess, unmasked: Guess) -> list[tuple[str, str, str]]:
    """A guess in numbers: how the true token fares, and how it did when the model could see it."""
    surprise = f"{-math.log2(guess.probability):.3g} bits" if guess.probability else "–"
    return [
        (
            "True token's rank",
            f"{guess.rank:,} of {guess.vocabulary:,}",
            wording.RANK_ABOUT,
        ),
        ("Its probability", number(guess.probability), wording.MASKED_ABOUT),
        ("Surprise", surprise, wording.SURPRISE_ABOUT),
        (
            "When seen",
            number(unmasked.probability),
            wording.seen_about(rank=unmasked.rank),
        ),
    ]
