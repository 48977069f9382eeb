"""A token is hidden from the model: what it guesses there, what it predicts, and how its attention changes."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from inspector import interventions
from inspector.interventions import Guess, Masked
from inspector.plots import interventions as draw
from inspector.plots import theme
from inspector.trace import Trace
from inspector.views.shell import boundary, link, session, widgets
from inspector.views.what_if import before_after, downloads, token_choice
from inspector.views.what_if.predictions import guess_numbers, show_predictions
from models import LoadedModel

GUESSES = "mini-bert"  # the model of the catalogue that guesses hidden tokens
SHOWN = 4  # guesses drawn at most


@st.fragment
@boundary.part
def explorer(trace: Trace, loaded: LoadedModel) -> None:
    """Draw everything below the controls, as a fragment: a click redraws only this."""
    st.caption(
        "Click a token: it is hidden behind the model's mask token and the text is read again. A masked language model "
        "guesses what stood there from the words on both sides, as it was trained to (Devlin et al. 2019, 3.1)."
    )
    if not loaded.fills_masks:
        _other_model(loaded)
    if loaded.tokenizer.mask_token_id is None:
        st.caption("Its tokenizer has no mask token to hide a word behind: swap a word, or drop heads.")
        return
    try:
        masked = _masked(trace, loaded, _chosen_tokens(trace, loaded))
        guesses = _guesses(loaded, masked)
        stream = widgets.stream(trace.streams)
        about = masked.positions if trace.read_by(stream) is trace.encoding else ()
        drawn = before_after.maps_of(masked, stream=stream, about=about)
        before_after.hidden_states(masked, positions=masked.positions if trace.target is None else ())
        link.publish()
    except ValueError as error:
        session.show_problem(str(error))
        return
    downloads.change(guesses, drawn, name=f"{trace.model.replace('/', '-')}-masked")
    if guesses is not None:
        with st.expander("All guesses, in numbers"):
            widgets.table(guesses, name="guesses", height=320)


def telling(trace: Trace, loaded: LoadedModel) -> int:
    """The position to hide first."""
    return session.cached(
        ("telling", trace.key),
        partial(interventions.most_telling, loaded, trace.encoding),
    )


def _other_model(loaded: LoadedModel) -> None:
    """Say that this model does not guess and why, and offer a model that does."""
    st.subheader("This model does not guess words")
    does = "turns a text into vectors, one for each token, and has no layer that turns a vector back into a word"
    if loaded.shape != "encoder":
        does = "writes a text from left to right, and never fills a gap from both sides"
    st.write(
        f"{loaded.card.title} {does}. What it makes of a text with its mask token in it can be seen all the same; "
        "whether it ever met that token in training, its files do not say."
    )
    opened = st.session_state.get("file") is not None
    st.button(
        "Switch to mini-BERT, keep the text",
        icon=":material/visibility_off:",
        on_click=_switch,
        disabled=opened,
        help="Remove the saved trace in the sidebar first." if opened else None,
    )


def _switch() -> None:
    """To the model that guesses; the text stays."""
    st.session_state["model"] = GUESSES


def _chosen_tokens(trace: Trace, loaded: LoadedModel) -> tuple[int, ...]:
    """The chips and their switches; the positions to mask."""
    with st.container(horizontal=True):
        whole = st.toggle(
            "Whole word",
            True,
            key="whole",
            bind=link.bind_switch("whole", default=True),
            help="Mask all pieces of a word: one gives away others.",
        )
        several = st.toggle(
            "Several at once", key="several", bind=link.bind_switch("several"), help="A click adds to what is masked."
        )
    return token_choice.chosen(
        trace.encoding,
        name="token",
        key="chips",
        default=telling(trace, loaded),
        whole=whole,
        several=several,
    )


def _masked(trace: Trace, loaded: LoadedModel, positions: tuple[int, ...]) -> Masked:
    return session.cached(
        ("masked", trace.key, positions),
        lambda: interventions.mask(loaded, trace, positions=positions),
    )


def _guesses(loaded: LoadedModel, masked: Masked) -> pd.DataFrame | None:
    """Draw the guesses or predictions and return their table."""
    if not loaded.fills_masks:
        st.text(masked.gapped)
        return show_predictions(loaded, masked)
    _gap(loaded, masked)
    return interventions.predictions(masked)


def _gap(loaded: LoadedModel, masked: Masked) -> None:
    """The gap, the likeliest tokens for it, and where the true one stands."""
    st.subheader("What stands in the gap?")
    st.text(masked.gapped)
    first = masked.guesses[0]
    if len(masked.guesses) == 1:
        left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
        with left:
            _draw(first)
        with right:
            widgets.cards(guess_numbers(first, masked.unmasked[0]), width=170)
    else:
        st.caption("Several at once are guessed independently: the model does not know what it guessed in another gap.")
        for start in range(0, min(len(masked.guesses), SHOWN), 2):
            for column, guess in zip(st.columns(2), masked.guesses[start : start + 2], strict=False):
                with column:
                    _draw(guess)
    if loaded.tokenizer.mask_token in [guess.token for guess in masked.guesses]:
        st.caption("The text has the mask token there itself: no true token is known, and after is as before.")
    st.caption(
        rf"$p = \mathrm{{softmax}}(z)$ over the {first.vocabulary:,} tokens of the vocabulary, $z$ the logits of the "
        f"last hidden state; no unit. At position {first.position} the five likeliest have "
        f"{theme.number(sum(share for _, share in first.top))} of the probability together. "
        "The text's own token is solid and named *true*."
    )
    if len(masked.guesses) > SHOWN:
        st.caption(f"Drawn are the first {SHOWN} of {len(masked.guesses)}; all are in the table below.")


def _draw(guess: Guess) -> None:
    """The likeliest tokens at one position."""
    widgets.chart(
        draw.guesses(guess, mode=session.mode()),
        alt=f"probability of the likeliest tokens at position {guess.position}; the true one has rank {guess.rank} and "
        f"probability {theme.number(guess.probability)}",
        key=f"guesses-{guess.position}",
    )
