"""The predictions of a model before and after a change, side by side."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from inspector import interventions
from inspector.interventions import Change, Guess, Prediction
from inspector.plots import interventions as draw
from inspector.plots import theme
from inspector.views.shell import link, session, widgets
from models import LoadedModel

END = "…"  # what comes after the text's end


def show_predictions(loaded: LoadedModel, change: Change) -> pd.DataFrame | None:
    """The likeliest tokens before and after, with how the true one fares; the table of it. None without a head."""
    if loaded.predict is None:
        st.info(
            f"{loaded.card.title} turns a text into vectors and has no head that predicts tokens, so there is no "
            "prediction to compare: what changes is its maps and hidden states."
        )
        return None
    st.subheader("What does the model predict now?")
    everywhere = session.cached(
        (change.before.key, change.after.key, "surprises"), lambda: interventions.surprises(loaded, change)
    )
    position = _position(loaded, everywhere)
    found = session.cached(
        (change.before.key, change.after.key, "prediction", position),
        lambda: interventions.predict(loaded, change, position=position),
    )
    left, right = st.columns([1, 1], gap="medium", vertical_alignment="center")
    with left:
        widgets.chart(
            draw.predictions(found, mode=session.mode()),
            alt="probabilities of the likeliest tokens before and after",
            key="predictions",
        )
    with right:
        widgets.cards(_numbers(found), width=190)
    st.caption(
        rf"$p = \mathrm{{softmax}}(z)$ over the {found.before.vocabulary:,} tokens of the vocabulary, $z$ the logits "
        f"of the last hidden state at position {position}; no unit. Drawn are the five likeliest before and the five "
        f"likeliest after. {_whose(loaded, found)}"
    )
    if len(everywhere) > 1:
        with st.expander("Every position, in numbers"):
            widgets.table(everywhere, name="surprises", height=320)
            st.caption(
                "before and after: $-\\log_2 p$ of the true token, in bits; divergence "
                r"$\mathrm{KL}(p \,\|\, p') = \sum p \log_2 (p / p')$, in bits."
            )
    return interventions.prediction_table(found)


def _position(loaded: LoadedModel, everywhere: pd.DataFrame) -> int:
    """The position to ask about: of a masked language model the hidden one, else the reader's choice."""
    places = everywhere["position"].tolist()
    if loaded.fills_masks or len(places) == 1:
        return int(places[0])
    most = int(everywhere.loc[everywhere["divergence"].idxmax(), "position"])
    position: int = link.several("ask", default=most, allowed=places, but="")[0]
    if st.session_state.get("ask-next") != [position]:
        st.session_state["ask-next"] = [position]
    tokens = dict(zip(places, everywhere["truth"].fillna(END), strict=True))
    widgets.token_chips(tokens, key="ask-next", on_change=lambda: _ask(position), label="Which token is predicted")
    st.caption("First chosen is the position whose prediction changed most. The small number is the position read.")
    return position


def _ask(before: int) -> None:
    """A chip was clicked: that token is asked about; one stays chosen."""
    added = set(st.session_state["ask-next"]) - {before}
    if added:
        link.assign("ask", (added.pop(),))


def _whose(loaded: LoadedModel, found: Prediction) -> str:
    if not found.true:
        return "The text ends here: the token asked about is the one that was likeliest before."
    return f"The token that {'stands' if loaded.fills_masks else 'comes next'} there is named *true*."


def _numbers(found: Prediction) -> list[tuple[str, str, str]]:
    """Write the cards on what changed for the token in question."""
    before, after = found.before, found.after
    whose = "true token" if found.true else "token likeliest before"
    return [
        (
            "Its rank",
            f"{before.rank:,} → {after.rank:,}",
            f"Of the {whose}, before and after, of {before.vocabulary:,} tokens; 1: the model's first guess",
        ),
        (
            "Its probability",
            f"{theme.number(before.probability)} → {theme.number(after.probability)}",
            f"Of the {whose}, before and after",
        ),
        (
            "More surprise",
            theme.bits(found.surprise),
            f"log2(p / p') of the {whose}; below 0 it surprises less",
        ),
        (
            "Divergence",
            f"{theme.number(found.divergence)} bits",
            "KL(p || p') = Σ p log2(p / p') over the whole vocabulary; 0 for the same prediction",
        ),
    ]


def guess_numbers(guess: Guess, seen: Guess) -> list[tuple[str, str, str]]:
    """A guess as cards: how the true token fares, and how it did when the model could see it."""
    return [
        (
            "True token's rank",
            f"{guess.rank:,} of {guess.vocabulary:,}",
            "1: the model's first guess. Tokens of the vocabulary by probability",
        ),
        ("Its probability", f"{guess.probability:.3g}", "Of the true token, when it is masked"),
        (
            "Surprise",
            f"{-math.log2(guess.probability):.3g} bits" if guess.probability else "–",
            "-log2 of that probability: 1 bit is a coin's toss",
        ),
        (
            "When seen",
            f"{seen.probability:.3g}",
            f"The true token's probability when it is not masked; rank {seen.rank:,}",
        ),
    ]
