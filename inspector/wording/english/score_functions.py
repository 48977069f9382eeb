"""Sentences on score functions side by side, and on other weightings of a head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inspector.plots.theme import number, quantity
from inspector.readings.score_functions import Race, Weightings
from inspector.scores.functions import KEYS, SHIFT
from inspector.wording.english.phrases import percent

if TYPE_CHECKING:
    import pandas as pd

    from inspector.costs.score_functions import Function, Timed
    from inspector.scores.functions import OnHead

NAMES: dict[Function, str] = {
    "dot": "dot",
    "general": "general",
    "additive": "additive, factorised",
    "additive_naive": "additive, naive",
    "linear": "linear attention",
}
WRITTEN: dict[Function, str] = {
    "dot": "q · k",
    "general": "q · W k",
    "additive": "v · tanh(W_q q + W_k k + b), W_q q and W_k k once for each token",
    "additive_naive": "v · tanh(W [q; k] + b) for every pair",
    "linear": "no scores: φ(Q) (φ(K)ᵀ V)",
}
TERMS = ("score function", "additive scores", "linear attention")
WEIGHTING_TERMS = ("sigmoid attention", "linear attention")
SIGMOID = (
    "A sigmoid makes this head's weights, each of its score alone. What is said of a row's weights is of the row "
    "divided by its sum; where a softmax is named for this model's own weights, the sigmoid takes the scores."
)
WAYS = {
    "softmax": "softmax",
    "sigmoid": "sigmoid",
    "linear": "linear",
    "cosine": "softmax of the cosine",
}


def race(found: Race) -> str:
    """Say what the functions cost beside dot products, and from which length on linear attention is cheaper."""
    sizes, times = found.sizes, found.times
    tokens = f"{sizes.tokens:,} {'token' if sizes.tokens == 1 else 'tokens'}"
    heads = f"{sizes.heads:,} {'head' if sizes.heads == 1 else 'heads'} of d_k = {sizes.width:,}"
    linear = (
        f"Linear attention takes {number(times['linear'])} times as many, and fewer than dot products from "
        f"{found.cheaper:,} tokens on."
    )
    return (
        f"With {tokens} in {heads}, additive scores for every pair take {number(times['additive_naive'])} times the "
        f"FLOPs of dot products, the same scores factorised {number(times['additive'])} times. {linear}"
    )


def largest(found: Race) -> str:
    """Say how large the tensor of all pairs and features is."""
    additive, dot = (quantity(bytes_, "B") for bytes_ in found.largest)
    return (
        f"Factorised additive scores still make n² d numbers, one tanh for each pair and feature: {additive} in one "
        f"tensor, where dot products make one of {dot}. It is written and read again, unless a fused kernel makes it "
        "piece by piece."
    )


def timed(found: Timed) -> str:
    """Say what each function took, and which were not timed."""
    parts = [f"{NAMES[function]} {number(1000 * seconds)} ms" for function, seconds in found.seconds.items()]
    runs = f"medians of {found.repeats} {'run' if found.repeats == 1 else 'runs'} that take turns, {found.clock}"
    without = "".join(
        f" {NAMES[function].capitalize()} is not timed: {why}." for function, why in found.left_out.items()
    )
    return f"Scores, softmax and mix took: {', '.join(parts)} ({runs}, float32).{without}"


def properties(found: OnHead, *, width: int) -> list[str]:
    """Say what kind of functions these are, with numbers of the head."""
    off = found.doubled
    learns = 2 * width * width + 2 * width
    return [
        f"Naive and factorised are one function, W [q; k] = W_q q + W_k k: on the first {found.tokens} tokens of this "
        f"head no weight differs by more than {number(found.naive)}, which is rounding in float32.",
        f"A bias behind v moves all scores of a row alike: {SHIFT:+.0f} changes no weight by more than "
        f"{number(found.shifted)}. It learns nothing.",
        f"Dot and general scores are bilinear: twice the query is twice the score{_rounding(off)}. Additive scores "
        f"miss that by up to {percent(off['additive'])} of the largest, linear attention's ln(φ(q) · φ(k)) by up to "
        f"{percent(off['linear'])}. The softmax is not linear: twice the scores move a weight of this head by up to "
        f"{number(found.weights)}.",
        f"Dot products learn nothing themselves; a general score d² = {width * width:,} numbers in each head, an "
        f"additive one 2 d² + 2 d = {learns:,}, and {learns + 1:,} with that bias of v.",
    ]


def _rounding(off: Mapping[str, float]) -> str:
    most = max(off["dot"], off["general"])
    return f", but for {number(most)} of the largest" if most else ", to the last digit"


def spread(found: pd.DataFrame) -> str:
    """Say how far scores spread before training, by width; found: of `scores.functions.variances`."""
    table = found.set_index(["function", "width"])
    least, most = int(found["width"].min()), int(found["width"].max())
    dot, additive = ([float(table["variance"][name, at]) for at in (least, most)] for name in ("dot", "additive"))
    weights = {name: number(float(table["largest"][name, most])) for name in ("dot", "scaled", "additive")}
    return (
        f"Before training, unscaled dot products vary by {number(dot[0])} at d_k = {least} and {number(dot[1])} at "
        f"{most:,}; additive scores by {number(additive[0])} and {number(additive[1])}. So at d_k = {most:,} the "
        f"largest of {KEYS} keys has {weights['dot']} of a row with unscaled dot products, {weights['scaled']} with "
        f"scaled ones and {weights['additive']} with additive ones. In this setting, unscaled, additive attention did "
        "better (Britz et al. 2017); Vaswani et al. (2017) cite that and compare no additive attention themselves."
    )


# --- other weightings ------------------------------------------------------------------------------------------------


def weightings(found: Weightings) -> str:
    """Say what the other weightings make of a head's queries and keys."""
    if not found.choosing:
        return f"{found.place} has no choice: each query sees one key."
    one = found.found
    largest = {name: number(way.largest) for name, way in one.items()}
    ends = dict.fromkeys(number(total) for total in one["sigmoid"].sums)  # once where both are written alike
    return (
        f"{found.place}: the largest weight of a query is {largest['softmax']} on average with a softmax, "
        f"{largest['linear']} with linear attention and {largest['cosine']} with cosines; a sigmoid's rows sum to "
        f"{' to '.join(ends)}."
    )
