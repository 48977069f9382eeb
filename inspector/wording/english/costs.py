"""Sentences of the page Costs."""

from __future__ import annotations

from inspector.plots.theme import quantity
from inspector.readings.costs import Counted, Shares
from inspector.wording.english.phrases import percent


def shares(found: Shares) -> str:
    """Say which of attention and FFN costs more at this length, and from which length on that turns."""
    words = f"At {found.tokens:,} {'token' if found.tokens == 1 else 'tokens'}"
    attention, ffn = percent(found.attention), percent(found.ffn)
    layers = f"the {found.stream}'s layers" if found.stream else "the layers"
    if found.attention > found.ffn:
        first = f"{words} attention takes {attention} of the FLOPs of {layers} and the FFN {ffn}"
    else:
        first = f"{words} the FFN takes {ffn} of the FLOPs of {layers} and attention {attention}"
    return f"{first}; {_turns(found)}. {_pairs(found)}"


def counted(found: Counted) -> str:
    """Say how many parameters a model has, and how many of them are embeddings."""
    embeddings = percent(found.embeddings / found.parameters) if found.parameters else "0 %"
    layers = f"{found.layers} {'layer' if found.layers == 1 else 'layers'}"
    return f"This model has {quantity(found.parameters)} parameters in {layers}; {embeddings} of them are embeddings."


def _turns(found: Shares) -> str:
    if found.sublayer is None:
        return "attention costs more at any length"
    at = f"{found.sublayer:,.0f} tokens"
    if found.tokens > found.sublayer:
        return f"it overtook the FFN at {at}"
    return f"both cost the same at {at}" if found.tokens == found.sublayer else f"attention overtakes it at {at}"


def _pairs(found: Shares) -> str:
    share = percent(found.pairs)
    passed = "alone cost more than the FFN" if found.tokens > found.core else "alone pass the FFN"
    when = "since" if found.tokens > found.core else "at"
    return (
        f"Scores and mix, the part that grows with the square of the text, take {share} and {passed} {when} "
        f"{found.core:,.0f} tokens."
    )
