"""Sentences of the page Positions."""

from __future__ import annotations

from math import isnan

from inspector.plots.theme import number, signed
from inspector.positional import Kind, Way
from inspector.readings.positions import (
    Alike,
    Beyond,
    Longer,
    Looks,
    Moved,
    Ordered,
    Positions,
    Sides,
    Steps,
    Turns,
)
from inspector.wording.english.phrases import listed, percent

_WAYS: dict[Way, str] = {
    "learned": "adds to each token a learned vector for its place",
    "sinusoidal": "adds to each token a vector of sines and cosines for its place",
    "rope": "turns every query and key by angles that grow with the position (RoPE)",
    "t5": "adds to each score a learned number for the distance of query and key (as T5 does)",
    "alibi": "takes off each score a multiple of the distance of query and key (ALiBi)",
    "shaw": "adds a learned vector for the distance to every key and value (Shaw et al.)",
    "xl": "compares each query with sines and cosines of the distance to the key too, through a learned matrix "
    "(Transformer-XL)",
    "disentangled": "compares queries and keys with learned vectors for their distance too (DeBERTa)",
    "xlnet": "compares each query with sines and cosines of the distance to the key too (XLNet)",
    "profiles": "adds to each score a number for the distance that the query chooses from learned curves (Inkling)",
}
_TERMS: dict[Way, str] = {"learned": "position table", "sinusoidal": "position table", "rope": "RoPE", "alibi": "ALiBi"}


KINDS: dict[Kind, tuple[str, str, str, str, str]] = {
    "sinusoidal": ("Sinusoidal (Vaswani 2017)", "embedding, once", "a vector of waves", "nothing", "has a value"),
    "learned": ("Learned (Gehring 2017)", "embedding, once", "a vector for the place", "positions × width", "ends"),
    "shaw": (
        "Shaw (2018)",
        "keys and values",
        "a vector for the distance",
        "2 (2k + 1) × head width",
        "as the farthest",
    ),
    "xl": (
        "Transformer-XL (Dai 2019)",
        "scores",
        "waves of the distance, times a matrix",
        "a matrix, two vectors",
        "has a value",
    ),
    "t5": ("T5 (Raffel 2020)", "scores", "a number for the distance", "buckets × heads", "as the farthest"),
    "rope": ("RoPE (Su 2021)", "queries and keys", "nothing: they are turned", "nothing", "has a value"),
    "alibi": ("ALiBi (Press 2022)", "scores", "− slope × distance", "nothing", "has a value"),
}
"""Each kind: its name, what it changes, what it adds there, what it learns, and what it has beyond its longest text."""
_SHORT: dict[Kind, str] = {
    "sinusoidal": "sinusoidal positions",
    "learned": "learned positions",
    "shaw": "Shaw",
    "xl": "Transformer-XL",
    "t5": "T5",
    "rope": "RoPE",
    "alibi": "ALiBi",
}


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
    compared = ["cosine"] if found.alike is not None else []
    return list(dict.fromkeys([*(_TERMS[way] for way in found.ways if way in _TERMS), *compared]))


def _alike(found: Alike) -> str:
    said = f"have a mean cosine of {signed(found.near)} between neighbours"
    if found.far is None or isnan(found.far):
        return said
    return f"{said} and {signed(found.far)} between places {found.apart} apart"


LEARNED = 0.1  # bits a token, less than which no cost is told of
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
    if {"xl", "xlnet"} & set(found.ways):
        said.append("Its sines and cosines of the distance have a value at any distance.")
    if "profiles" in found.ways and found.shared is not None:
        said.append(f"Nothing is added to the score of a key {_tokens(found.shared)} back or more.")
    elif {"shaw", "disentangled"} & set(found.ways):
        where = "beyond the table's last" if found.shared is None else f"of {_tokens(found.shared)} back or more"
        said.append(f"Distances {where} share one vector, the table's last.")
    return said or ["No positions are found in this model, so none of them ends."]


def met(kind: str, *, layers: int) -> str:
    """Say what becomes of the vectors of distances in a score or a sum, and whose they are."""
    said = {
        "shaw": "Queries are multiplied with the key and the first of these vectors, and the second is added to the "
        "value (Shaw et al. 2018). Distances beyond the last share its vector.",
        "xl": "Sines and cosines of the distance, multiplied by the layer's matrix W_R, the heads side by side: each "
        "query, with a learned vector v added, is multiplied with them (Dai et al. 2019).",
        "disentangled": "Each layer multiplies them by a matrix of its own before queries and keys meet them (He et "
        "al. 2021). Far distances share a vector.",
        "xlnet": "Sines and cosines of the distance, as of a position in Vaswani et al. 2017; each layer multiplies "
        "them by a matrix of its own before its queries meet them (Yang et al. 2019).",
        "profiles": "Each row is a curve over the distance; each query mixes them with numbers of its own.",
    }[kind]
    return said if layers == 1 else f"{said} Each of {layers} layers has its own; these are the first's."


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


def sides(found: Sides) -> str:
    """Say which kinds know the distance alone, by their numbers."""
    rounding = "".join(f"; with {_SHORT[kind]} but for rounding ({number(value)})" for kind, value in found.rounding)
    differs = listed([f"{number(value)} with {_SHORT[kind]}" for kind, value in found.more])
    return (
        f"One query and one key, {found.distance} tokens apart, at every place of {found.places}: with "
        f"{listed([_SHORT[kind] for kind in found.same])} their score is the same wherever they stand{rounding}. It "
        f"differs by up to {differs}: these are added before W_Q and W_K, which keep no distance."
    )


def steps(found: Steps) -> str:
    """Say in how many steps a text is read, here and in a recurrent network."""
    layers = f"{found.layers} layer{'' if found.layers == 1 else 's'} of attention"
    told = (
        f"The {_tokens(found.tokens)} {'is' if found.tokens == 1 else 'are'} read at once, in {layers} that follow one "
        f"another; a recurrent network takes {found.tokens:,} steps, one for each token. In layer {found.layer} alone "
        f"{found.joined:,} of {found.pairs:,} pairs of query and key have a weight above 0"
    )
    if found.tokens < 2:
        return f"{told}."
    apart = f"{found.tokens - 1:,} step{'' if found.tokens == 2 else 's'}"
    if not found.ends:
        return f"{told}; the last token gives none to the first there."
    return f"{told}, the last token's to the first too: one step, where a recurrent network has {apart} between them."


def longer(found: Longer) -> str:
    """Say what positions beyond the longest text cost."""
    costs = found.at_once - found.in_windows
    told = (
        f"Measured on a passage of {found.tokens:,} tokens, at once: behind position {found.longest - 1:,} a token "
        f"costs {number(found.at_once)} bits. In windows of {found.longest:,} tokens, which fit, the same tokens cost "
        f"{number(found.in_windows)}"
    )
    if costs > LEARNED:
        return f"{told}. So positions beyond are defined, but not learned: they cost {number(costs)} bits a token."
    return f"{told}. On this passage positions beyond cost nothing."
