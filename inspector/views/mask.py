"""Mask: a token is hidden from the model; what it guesses there, and how its attention changes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from inspector import compare, interventions
from inspector.interventions import Masked
from inspector.plots import masking as draw
from inspector.plots import theme
from inspector.views import before_after, downloads, link, parts, session

GUESSES = "mini-bert"  # the model of the catalogue that guesses hidden tokens
SHOWN = 4  # guesses drawn at most

st.title("Mask")
inspected = session.inspected()
trace = inspected.trace
mode = session.mode()


def switch() -> None:
    """To the model that guesses; the text stays."""
    st.session_state["model"] = GUESSES


loaded = session.at_hand(
    inspected, so=f"it cannot guess. Remove the file in the sidebar and choose {GUESSES} to mask a text"
)
if not loaded.fills_masks:
    st.subheader("This model does not guess words")
    does = "turns a text into vectors, one for each token, and has no layer that turns a vector back into a word"
    if loaded.shape != "encoder":
        does = "writes a text from left to right, and never fills a gap from both sides"
    st.write(
        f"{loaded.card.title} {does}. A masked language model was trained to guess words that were hidden from it."
    )
    st.button(
        "Switch to mini-BERT, keep the text",
        type="primary",
        icon=":material/visibility_off:",
        on_click=switch,
        disabled=st.session_state.get("file") is not None,
        help="Remove the saved trace in the sidebar first." if st.session_state.get("file") is not None else None,
    )
    st.stop()

encoding = trace.encoding
choices = interventions.maskable(encoding)
mask_token = loaded.tokenizer.mask_token
telling = session.cached(
    ("telling", trace.key), partial(interventions.most_telling, loaded, encoding), size=lambda _: 64
)
last_layer, last_head = len(trace.sites) - 1, trace.sites[0].heads - 1


def choose(positions: tuple[int, ...] | None) -> None:
    """Mask these tokens; the head that this changes most is opened."""
    link.choose("token", positions)
    open_head(None, None)


def open_head(layer: int | None, number: int | None) -> None:
    """Called before the run that follows a click, so that this run draws the answer."""
    link.choose("mask_layer", layer)
    link.choose("mask_head", number)


def click(masked: tuple[int, ...], *, whole: bool, several: bool) -> None:
    """A chip was clicked: it is masked alone or with the others, or shown again, with its word; one stays masked."""
    now = set(st.session_state["chips"])
    added, removed = now - set(masked), set(masked) - now
    if added:
        choose(tuple(sorted(now if several else added)))
    else:
        shown = set(interventions.whole_words(encoding, removed)) if whole else removed
        choose(tuple(sorted(set(masked) - shown)) or masked)


if st.session_state.setdefault("masked_in", trace.tokens) != trace.tokens:
    choose(None)
st.session_state["masked_in"] = trace.tokens


def chosen_tokens() -> tuple[int, ...]:
    """The chips and their switches; the positions to mask."""
    with st.container(horizontal=True):
        whole = st.toggle(
            "Whole word",
            True,
            key="whole",
            bind="query-params",
            help="Mask all pieces of a word: one gives away others.",
        )
        several = st.toggle(
            "Several at once", key="several", bind="query-params", help="A click adds to what is masked."
        )
    clicked = link.chosen_several("token", default=telling, allowed=choices)
    masked = interventions.whole_words(encoding, clicked) if whole else clicked
    if st.session_state.get("chips") != list(masked):
        st.session_state["chips"] = list(masked)
    parts.token_chips(encoding, choices, key="chips", on_change=partial(click, masked, whole=whole, several=several))
    return masked


def draw_guess(guess: interventions.Guess) -> None:
    """The likeliest tokens at one position."""
    parts.chart(
        draw.guesses(guess, mode=mode),
        alt=f"probability of the likeliest tokens at position {guess.position}; the true one has rank {guess.rank} and "
        f"probability {theme.number(guess.probability)}",
        key=f"guesses-{guess.position}",
    )


def show_guesses(masked: Masked) -> None:
    """The gap, the likeliest tokens for it, and where the true one stands."""
    st.subheader("What stands in the gap?")
    st.text(masked.gapped)
    first = masked.guesses[0]
    if len(masked.guesses) == 1:
        left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
        with left:
            draw_guess(first)
        with right:
            parts.cards(parts.guess_numbers(first, masked.unmasked[0]), width=170)
    else:
        st.caption("Several at once are guessed independently: the model does not know what it guessed in another gap.")
        for start in range(0, min(len(masked.guesses), SHOWN), 2):
            for column, guess in zip(st.columns(2), masked.guesses[start : start + 2], strict=False):
                with column:
                    draw_guess(guess)
    if mask_token in [guess.token for guess in masked.guesses]:
        st.caption("The text has the mask token there itself: no true token is known, and after is as before.")
    st.caption(
        rf"$p = \mathrm{{softmax}}(z)$ over the {first.vocabulary:,} tokens of the vocabulary, $z$ the logits of the "
        f"last hidden state; no unit. At position {first.position} the five likeliest have "
        f"{theme.number(sum(share for _, share in first.top))} of the probability together. "
        "The text's own token is solid and named *true*."
    )
    if len(masked.guesses) > SHOWN:
        st.caption(f"Drawn are the first {SHOWN} of {len(masked.guesses)}; all are in the table below.")


@st.fragment
def explorer() -> None:
    """What a click changes, and nothing else."""
    try:
        masked = session.masked(inspected, chosen_tokens())
        changed = session.cached_table(
            (masked.after.key, "changed heads"),
            lambda: compare.changed_heads(masked.before, masked.after, queries=masked.positions),
        )
        layer = link.chosen("mask_layer", default=int(changed["layer"][0]), last=last_layer)
        number = link.chosen("mask_head", default=int(changed["head"][0]), last=last_head)
        link.keep()
        show_guesses(masked)
        guesses = interventions.predictions(masked)
        st.subheader("Where does the model look now?")
        shown, tokens = before_after.maps_of(
            masked.before,
            masked.after,
            changed,
            opened=(layer or 0, number or 0),
            open_head=open_head,
            pinned=masked.positions[0] if len(masked.positions) == 1 else None,
        )
        before_after.hidden_states(masked.before, masked.after, positions=masked.positions)
        downloads.masking(guesses, shown, tokens, name=f"{trace.model.replace('/', '-')}-masked")
    except ValueError as error:
        session.show_problem(str(error))
        return
    with st.expander("All guesses, in numbers"):
        parts.table(guesses, name="guesses", height=320)


st.caption(
    "Click a token: it is hidden behind the model's mask token, the text is read again, and the model guesses what "
    "stood there from the words on both sides, as it was trained to (Devlin et al. 2019, 3.1)."
)
explorer()
