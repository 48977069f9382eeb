"""Sentences of the section One token changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inspector.text import number, token
from inspector.wording.english.phrases import named

if TYPE_CHECKING:
    from inspector.batches.spreading import Spreading

CHANGE, TO_CHANGE = "One token changed", "Token to change"
READING, READING_INSTEAD = "Reading the text with one token changed", "Change the text, or choose another model."
TERMS = ("causal mask",)
MOVED = (
    "|after − before| of a number of each token's last hidden state, mean over its numbers. Both texts are read in one "
    "batch, so that nothing else differs. BERT is an encoder: every token sees all others (Devlin et al. 2019); GPT's "
    "causal mask hides what comes later (Radford et al. 2018), so that nothing before the changed token can move, not "
    "even by rounding. T5 and the translator have one of each."
)


def moves(model: str) -> str:
    """Name the figure of a model."""
    return f"How far each token's state moves in {model}"


def moves_alt(model: str) -> str:
    """Tell what the picture of a changed token shows."""
    return f"how far each token's last hidden state moves in {model}, as bars"


def replaced(move: Spreading) -> str:
    """Say which token is put in which one's place."""
    return f"{named(move.changed)} becomes {token(move.put)}"


def spreading(told: Mapping[str, Spreading]) -> str:
    """Say how far a changed token moves the tokens before it, in each model by its name, the reader's first."""
    clauses = [f"in {model} {_before(move)}" for model, move in told.items()]
    first = next(iter(told.values()))
    return f"Change {named(first.changed)}, and {'; '.join(clauses)}. Its own state moves by {number(first.itself)}."


def _before(move: Spreading) -> str:
    if move.before is None:
        return "no token stands before it"
    if move.before_largest == 0:
        return "no token before it moves, for the mask is causal"
    return f"the tokens before it move too, by {number(move.before)} in the mean"


def why(told: Mapping[str, Spreading]) -> str:
    """Say why an encoder does not write as a decoder does, with how far each moves what comes after."""
    after = [f"in {model} by {number(move.after)}" for model, move in told.items() if move.after is not None]
    later = f" The tokens after it move {' and '.join(after)} in the mean." if after else ""
    return (
        "**Why can BERT not write token by token?** A model without a causal mask has seen what comes next, so it was "
        "never trained to predict it; and each token that it wrote would change all states before, which would have to "
        f"be computed again. That is also why it has no KV cache.{later}"
    )
