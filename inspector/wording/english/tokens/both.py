"""Sentences of the section Understand and continue."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.plots.theme import number
from inspector.readings.batch import Spreading
from inspector.readings.tokens.both import Both
from inspector.wording import token
from inspector.wording.english.phrases import named

TERMS = ("causal mask", "cosine")


def both(found: Both, *, encoder: str, decoder: str) -> str:
    """Say what the encoder understands and the decoder writes; models by their names."""
    _, cosine = found.nearest
    said = (
        f"One architecture, two tasks: {encoder} understands the text (the sentence most like it has cosine "
        f"{number(cosine)}), {decoder} writes {'it' if found.same else 'another'} on."
    )
    before, none = found.encoder.before, found.decoder.before_largest == 0
    if before is None or not none:
        return said
    return (
        f"{said} Change a late token, and {encoder}'s earlier states move by {number(before)}, {decoder}'s by 0: only "
        f"{decoder} can write token by token."
    )


def why(found: Both, *, encoder: str, decoder: str) -> str:
    """Say why an encoder does not write as a decoder does, with what a changed late token moves."""
    return (
        f"**Why can BERT not write token by token?** {_moves(found.encoder, encoder)} {_moves(found.decoder, decoder)} "
        "A model without a causal mask has seen what comes next, so it was never trained to predict it; and each token "
        "that it wrote would change all states before, which would have to be computed again. That is also why it "
        "has no KV cache."
    )


def masks(written: Sequence[str], *, model: str) -> str:
    """Say what an encoder writes when mask tokens are put behind the text."""
    return (
        f"Made to write all the same, with a [MASK] behind the text that is guessed {len(written)} times, {model} "
        f"writes {' '.join(map(token, written))}, and reads the whole text {len(written)} times for it. Such a model "
        "can be drawn from in other ways (Wang & Cho 2019), but it gives no probability of the next token."
    )


def _moves(found: Spreading, model: str) -> str:
    place = f"{named(found.changed)} becomes {token(found.put)}"
    if found.before is None:
        return f"In {model} {place}, and no token stands before it."
    if found.before_largest == 0:
        return f"In {model} {place} and the states before it stay **exactly as they were: 0**."
    return f"In {model} {place} and the numbers of the states before it move by **{number(found.before)}** in the mean."
