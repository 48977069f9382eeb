"""Sentences of the page Generate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.plots.theme import number
from inspector.readings.generate import Look, StepReading
from inspector.wording import token
from inspector.wording.english.phrases import ordinal

if TYPE_CHECKING:
    import pandas as pd

_SURE, _LIKELY = 0.9, 0.5
_TORN = 0.25  # probability of each of two, below which others come near them too


def step(found: StepReading) -> str:
    """Say what one step chose and what it looked at.

    "At step 5 the model was sure of `cat` (0.93); the runner-up was `dog` (0.02). It looked most at `the` (0.41;
    layer 2, mean over its heads)."
    """
    return f"At step {found.step} the model {_choice(found)}.{_looked(found.look)}"


def beside_the_count(rows: pd.DataFrame) -> str:
    """Say whether the count from the configuration equals what was measured; rows: of `beside_the_count`."""
    flops, kept = rows.iloc[:-1], rows.iloc[-1]
    known = flops[flops["measured"].notna()]
    differ = known[known["counted"] != known["measured"]]
    if len(differ):
        first = differ.iloc[0]
        said = (
            f"The configuration gives other FLOPs than were measured: {first['what']} {first['counted']:,} and "
            f"{first['measured']:,}"
        )
    else:
        said = "By its configuration alone the model takes as many FLOPs as were measured, to the last"
    if kept["counted"] == kept["measured"]:
        return f"{said}; the cache ends with {kept['counted']:,} bytes both ways."
    return f"{said}; the cache ends with {kept['measured']:,} bytes, where its sizes give {kept['counted']:,}."


def cache_times(cached: float, uncached: float) -> str:
    """Say how long the text took with the cache and without, in seconds."""
    return f"It took {number(cached)} s with the cache and {number(uncached)} s without, counting included."


def _choice(found: StepReading) -> str:
    chosen = f"{token(found.token)} ({number(found.probability)})"
    other = f"{token(found.other)} ({number(found.other_probability)})"
    end = ", which ends the text" if found.ends else ""
    if found.ruled and found.rank > 1:
        return f"wrote {chosen}{end}: a rule of its generation_config set back {other}, the likeliest token"
    if found.rank > 1:
        by = "drew" if found.drawn else "chose"
        return f"{by} {chosen}, the {ordinal(found.rank)} likeliest of all tokens{end}; the likeliest was {other}"
    if found.close and found.probability >= _TORN:
        return f"was torn between {chosen} and {other}, and wrote the first{end}"
    if found.close:
        return f"hesitated: {chosen}, closely followed by {other}{end and '; the first ends the text'}"
    if found.probability >= _LIKELY:
        was = "was sure of" if found.probability >= _SURE else "leaned to"
        return f"{was} {chosen}{end}; the runner-up was {other}"
    return f"hesitated: {chosen} before {other}{end and '; the first ends the text'}"


def _looked(look: Look | None) -> str:
    if look is None:
        return ""
    whose = f"layer {look.layer}, " + ("mean over its heads" if look.head is None else f"head {look.head}")
    where = " in the source" if look.source else ""
    if look.tied:
        most = f"It looked most at {token(look.token)}{where} ({number(look.weight)}; {whose})"
        return f" {most} and about as much at another token."
    return f" It looked most at {token(look.token)}{where} ({number(look.weight)}; {whose})."
