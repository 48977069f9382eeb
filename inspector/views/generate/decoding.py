"""The choice of the next token: the likeliest, or drawn by its probability, and how many tokens at most."""

from __future__ import annotations

import streamlit as st

from inspector.generating import Decoding
from inspector.views.shell import controls, link
from inspector.wording import generate as words

GREEDY, SAMPLE = "greedy", "sample"


def choose(room: int) -> tuple[Decoding, int]:
    """Return how the reader wants the next token chosen, and how many tokens at most."""
    with st.popover(words.HOW_IT_WRITES, icon=":material/tune:"):
        how = st.segmented_control(
            "Next token", [GREEDY, SAMPLE], default=GREEDY, key="decoding", required=True,
            bind=link.bind_choice("decoding", default=GREEDY, options=[GREEDY, SAMPLE]),
            help=words.DECODING_HELP,
        )  # fmt: skip
        new_tokens = controls.number(
            "New tokens, at most", "new_tokens", default=min(40, room), last=room, first=1,
            help=words.NEW_TOKENS_HELP,
        )  # fmt: skip
        if how != SAMPLE:
            return Decoding(), new_tokens
        temperature = controls.decimal(
            "Temperature", "temperature", default=1.0, first=0.05, last=5.0,
            help=words.TEMPERATURE_HELP,
        )  # fmt: skip
        top_k = controls.number("Top-k", "top_k", default=0, last=1000, help=words.TOP_K_HELP)
        top_p = controls.decimal(
            "Top-p", "top_p", default=1.0, first=0.05, last=1.0,
            help=words.TOP_P_HELP,
        )  # fmt: skip
        seed = controls.number("Seed", "seed", default=0, last=9999, help=words.SEED_HELP)
        return Decoding(True, temperature, top_k or None, top_p, seed), new_tokens


def in_words(how: Decoding, new_tokens: int) -> str:
    """Say how the next token is chosen."""
    return words.sampled(most=new_tokens, seed=how.seed) if how.sampled else words.greedy(most=new_tokens)
