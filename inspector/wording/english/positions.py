"""Sentences of the page Positions."""

from __future__ import annotations

from math import isnan

from inspector.plots.theme import number, signed
from inspector.positional import Way
from inspector.readings.positions import Alike, Beyond, Looks, Moved, Ordered, Positions, Turns
from inspector.wording.english.phrases import listed, percent

_WAYS: dict[Way, str] = {
    "learned": "adds to each token a learned vector for its place",
    "sinusoidal": "adds to each token a vector of sines and cosines for its place",
    "rope": "turns every query and key by angles that grow with the position (RoPE)",
    "t5": "adds to each score a learned number for the distance of query and key (as T5 does)",
    "alibi": "takes off each score a multiple of the distance of query and key (ALiBi)",
    "shaw": "adds a learned vector for the distance to every key and value (Shaw et al.)",
}
_TERMS: dict[Way, str] = {"learned": "position table", "sinusoidal": "position table", "rope": "RoPE", "alibi": "ALiBi"}


def positions(found: Positions) -> str:
    """Say how the model knows the order of its tokens, and how alike the positions of this text are."""
    said = way(found)
    if found.alike is None or isnan(found.alike.near):
        return said
    text = "On this text" if found.alike.whole else f"On the first {found.alike.tokens} places of this text"
    where = "its vectors" if found.own else "the vectors of the paper's table, for comparison,"
    return f"{said} {text} {where} {_alike(found.alike)}."


def way(found: Positions) -> str:
    """Say how the model knows the order of its tokens."""
    if found.ways:
        return f"This model {listed([_WAYS[way] for way in found.ways])}."
    return "This model adds no vector for a token's place; if it knows the order, then in another way."


def terms(found: Positions) -> list[str]:
    """List the terms of the sentence that the glossary explains."""
    return list(dict.fromkeys([*(_TERMS[way] for way in found.ways if way in _TERMS), "cosine"]))


def _alike(found: Alike) -> str:
    said = f"have a mean cosine of {signed(found.near)} between neighbours"
    if found.far is None or isnan(found.far):
        return said
    return f"{said} and {signed(found.far)} between places {found.apart} apart"


_SCALINGS = {"yarn": "YaRN", "longrope": "LongRoPE", "llama3": "Llama 3's scaling", "dynamic": "dynamic scaling"}


def turns(found: Turns) -> str:
    """Say how fast RoPE's pairs turn, how many turn whole within the text, and whether they stretch."""
    if found.still == found.pairs:
        return "None of its pairs of dimensions is turned."
    span = (
        f"once in {number(found.shortest)} tokens"
        if found.shortest == found.longest
        else f"once in {number(found.shortest)} to {number(found.longest)} tokens"
    )
    text = "this text's one token" if found.tokens == 1 else f"the {found.tokens:,} tokens of this text"
    whole = "none turns" if not found.whole else f"{found.whole} turn{'s' if found.whole == 1 else ''}"
    moving = found.pairs - found.still
    if found.still:
        pairs = f"{moving} of its {found.pairs} pairs of dimensions turn{'s' if moving == 1 else ''}"
    else:
        pairs = "Its pair of dimensions turns" if found.pairs == 1 else f"Its {found.pairs} pairs of dimensions turn"
    said = f"{pairs} {span}: {whole} whole within {text}."
    if found.pure:
        return said
    by = _SCALINGS.get(found.variant, found.variant)
    return (
        f"{said} It is no pure rotation: {by} multiplies cosines and sines by {number(found.factor)}, and so every "
        f"score by {number(found.factor**2)}."
    )


def ordered(found: Ordered) -> str:
    """Say what another order does to the last hidden states, with the model's positions and without them."""
    change = _share(found.changed)
    if found.order == "shift":
        places = f"{found.by} place{'s' if found.by != 1 else ''}"
        told = f"With every token {places} later, last hidden states change by {change} of their length on average"
        if found.changed < 1e-4:
            return f"{told}, which is rounding: this model knows how far apart tokens are, not where they stand."
        return f"{told}: this model knows where a token stands, not only how far apart tokens are."
    moved = "backwards" if found.order == "reverse" else "in a shuffled order"
    told = f"Read {moved}, each token's last hidden state changes by {change} of its length on average"
    if not found.ways and found.without is not None:
        if found.blind:
            return f"{told}: nothing here tells this model the order."
        by = "its causal mask alone" if found.causal else "something that is not found here"
        return f"{told}. It adds no positions: {by} tells it the order."
    if found.without is None:
        return f"{told}. Its positions are made inside its attention, and cannot be taken away here to compare."
    bare = _share(found.without)
    if found.blind:
        end = f"{bare}, which is rounding: without them it cannot tell the order"
    elif found.causal:
        end = f"{bare}: it is not blind to order, for its causal mask shows each token only those before it"
    else:
        end = f"{bare}: it knows the order in another way too"
    return f"{told}; with its positions taken away it changes by {end}."


def beyond(found: Beyond) -> list[str]:
    """Say what each way of a model's positions has beyond its longest text, a sentence each."""
    said = []
    if "learned" in found.ways and found.rows is not None:
        said.append(
            f"Its learned table ends with row {found.rows - 1:,}: for position {found.rows:,} there is no vector, and "
            "the model cannot read a longer text at all."
        )
    if "sinusoidal" in found.ways:
        said.append("Its sines and cosines have a value at any position, also beyond those that it was trained on.")
    if found.turns is not None:
        if not found.turns:
            said.append(
                f"All {found.pairs} pairs of RoPE turn whole within {found.tokens:,} tokens, so that a longer text "
                "brings distances, but no angles, that are new."
            )
        else:
            are = "needs" if found.turns == 1 else "need"
            said.append(
                f"RoPE has an angle for any position, but {found.turns} of its {found.pairs} pairs {are} more than "
                f"{found.tokens:,} tokens for one turn: a longer text brings angles that no shorter one has."
            )
    if found.growing:
        said.append("Its frequencies depend on the length: a longer text turns all of its tokens by other angles.")
    if found.farthest is not None:
        said.append(
            f"T5's buckets end: all keys {found.farthest:,} or more tokens back get the same number, at any length."
        )
    if found.taken is not None:
        said.append(
            f"ALiBi goes on as it began: {found.tokens:,} tokens back, {number(found.taken[0])} is taken off a score "
            f"in the flattest head and {number(found.taken[1])} in the steepest, and twice that at twice the distance."
        )
    if "shaw" in found.ways:
        said.append("Distances beyond the table's last share its last vector (Shaw et al. 2018).")
    return said or ["No positions are found in this model, so none of them ends."]


def looks(found: Looks) -> str:
    """Say to which distance the heads give most, and which head gives most to one distance."""
    if found.distances < 2:
        return "With one token there is one distance: every head looks at the token itself."
    return (
        f"Of distances up to {_tokens(found.within)}, layer {found.layer}, head {found.head} gives most to one: "
        f"{percent(found.weight)} of its attention, on average, goes {_there(found.distance)}. The mean of all "
        f"{found.heads} heads is largest {_at(found.mean)}."
    )


def _tokens(count: int) -> str:
    return f"{count} token{'' if count == 1 else 's'}"


def _there(distance: int) -> str:
    if distance == 0:
        return "to the token itself"
    return f"{_tokens(abs(distance))} {'back' if distance < 0 else 'ahead'}"


def _at(distance: int) -> str:
    return "at the token itself" if distance == 0 else _there(distance)


def moved(found: Moved) -> str:
    """Say how far the vectors of tokens turn as the position is added."""
    if isnan(found.cosine):
        return "The vectors of this text have length 0, so there is no direction to turn."
    return (
        f"Adding the position leaves a mean cosine of {signed(found.cosine)} between a token's vector before and after "
        f"(lowest {signed(found.lowest)}); the position's row is {number(found.ratio)} times as long as the token's "
        "vector, on average."
    )


def shares(found: dict[str, float], *, head: int) -> str:
    """Say which of the four terms makes the scores of a head differ."""
    if any(isnan(share) for share in found.values()):
        return (
            f"In layer 0, head {head} the scores of a query do not differ between keys, so no term makes a difference."
        )
    each = listed([f"{name} {_signed_share(share)}" for name, share in found.items()])
    return f"What makes the scores of layer 0, head {head} differ between keys, by share: {each}."


def _signed_share(share: float) -> str:
    return f"{signed(float(f'{100 * share:.3g}'))} %"


def _share(value: float) -> str:
    if 0 < value < 1e-4:
        return "under 0.01 %"
    return f"{number(100 * value)} %"
