"""Sentences of the page Costs."""

from __future__ import annotations

from math import floor

from inspector.costs.clock import Measured
from inspector.plots.theme import quantity
from inspector.readings.costs import Counted, Shares, Whole
from inspector.wording.english.phrases import percent


def shares(found: Shares) -> str:
    """Say which of attention and FFN costs more at this length, and at which length that turns."""
    at = f"At {_tokens(found.tokens)}"
    whose = f"{found.stream}'s " if found.stream else ""
    of = f"of the FLOPs of the {whose}layers"
    attention, ffn = percent(found.attention), percent(found.ffn)
    if found.attention == found.ffn:
        return f"{at} attention and the FFN take {ffn} {of} each; in longer texts attention takes more. {_pairs(found)}"
    if attention == ffn:  # both round to 50 %
        over, under = f"just over {ffn}", f"just under {ffn}"
        attention, ffn = (over, under) if found.attention > found.ffn else (under, over)
    if found.attention > found.ffn:
        return f"{at} attention takes {attention} {of} and the FFN {ffn}; {_turns(found)}. {_pairs(found)}"
    return f"{at} the FFN takes {ffn} {of} and attention {attention}; {_turns(found)}. {_pairs(found)}"


def counted(found: Counted) -> str:
    """Say how many parameters a model has, and how many of them are embeddings."""
    embeddings = percent(found.embeddings / found.parameters) if found.parameters else "0 %"
    layers = f"{found.layers} {'layer' if found.layers == 1 else 'layers'}"
    return f"This model has {quantity(found.parameters)} parameters in {layers}; {embeddings} of them are embeddings."


def whole(found: Whole) -> str:
    """Say what a model has and what one forward takes."""
    layers = f"{found.layers} {'layer' if found.layers == 1 else 'layers'}"
    return (
        f"At {_tokens(found.tokens)} one forward takes {quantity(found.flops, 'FLOP')} in matrix products; the model "
        f"has {quantity(found.parameters)} parameters in {layers}."
    )


def measured(found: Measured) -> str:
    """Say where the clock puts the crossover, beside where FLOPs put it."""
    predicted = "at no length" if found.counted is None else f"at {found.counted:,.0f} tokens"
    longest = int(found.table["tokens"].max())

    def where(length: float | None) -> str:
        return f"at no length up to {longest:,} tokens" if length is None else f"from about {length:,.0f} tokens"

    return (
        f"By FLOPs attention catches up with the FFN {predicted}. On this machine it takes longer "
        f"{where(found.crossover('eager'))} in eager attention and {where(found.crossover('sdpa'))} in the fused "
        "kernel."
    )


def _turns(found: Shares) -> str:
    if found.sublayer is None or found.sublayer < 1:
        return "attention costs more at any length"
    verb = "overtook the FFN" if found.tokens > found.sublayer else "overtakes it"
    return f"{'it' if found.tokens > found.sublayer else 'attention'} {verb} {_where(found.sublayer)}"


def _pairs(found: Shares) -> str:
    where = "at any length" if found.core < 1 else f"in texts of over {_tokens(floor(found.core))}"
    return (
        f"Scores and mix, the part that grows with the square of the text, take {percent(found.pairs)}; alone they "
        f"cost more than the FFN {where}."
    )


def _where(length: float) -> str:
    """Say at which length: "at 768 tokens", or "between 767 and 768 tokens" where the two meet at no whole number."""
    whole = floor(length)
    return f"at {_tokens(whole)}" if whole == length else f"between {whole:,} and {whole + 1:,} tokens"


def _tokens(number: int) -> str:
    return f"{number:,} {'token' if number == 1 else 'tokens'}"
