"""Sentences of the page Generate."""

from __future__ import annotations

from inspector.plots.theme import number
from inspector.readings.generate import Look, StepReading
from inspector.wording import token

_SURE, _LIKELY = 0.9, 0.5


def step(found: StepReading) -> str:
    """Say what one step chose and what it looked at.

    "At step 5 the model was sure of `cat` (0.93); next came `dog` (0.02). It looked most at `the` (0.41; layer 2, mean
    over its heads)."
    """
    return f"At step {found.step} the model {_choice(found)}.{_looked(found.look)}"


def _choice(found: StepReading) -> str:
    chosen = f"{token(found.token)} ({number(found.probability)})"
    other = f"{token(found.other)} ({number(found.other_probability)})"
    end = ", which ends the text" if found.ends else ""
    if found.ruled and found.rank > 1:
        return f"wrote {chosen}{end}: a rule of its generation_config set back {other}, the likeliest token"
    if found.rank > 1:
        by = "drew" if found.drawn else "chose"
        return f"{by} {chosen}, number {found.rank:,} of all tokens{end}; the likeliest was {other}"
    if found.close:
        return f"was torn between {chosen} and {other}, and wrote the first{end}"
    if found.probability >= _LIKELY:
        was = "was sure of" if found.probability >= _SURE else "leaned to"
        return f"{was} {chosen}{end}; next came {other}"
    return f"hesitated: {chosen} before {other}{end and ', and the first ends the text'}"


def _looked(look: Look | None) -> str:
    if look is None:
        return ""
    whose = f"layer {look.layer}, " + ("mean over its heads" if look.head is None else f"head {look.head}")
    where = " in the source" if look.source else ""
    if look.tied:
        each = f"about {number(look.weight)} each"
        return f" It looked at {token(look.token)}{where} and at another token alike ({each}; {whose})."
    return f" It looked most at {token(look.token)}{where} ({number(look.weight)}; {whose})."
