"""Sentences on score functions side by side, and on other weightings of a head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inspector.scores.functions import KEYS, SHIFT
from inspector.text import number, quantity
from inspector.wording.english.phrases import count_of, percent

if TYPE_CHECKING:
    import pandas as pd

    from inspector.costs.score_functions import Function, FunctionTimes
    from inspector.scores.functions import FunctionsOnHead

TOKENS, WIDTH, HEADS = "Tokens n", "d_k", "Heads h"
COMPARED = "What is compared"
AMOUNTS = {"flops": "FLOPs", "largest_bytes": "Largest tensor"}
DRAWN = {"flops": "FLOPs of scores and mix", "largest_bytes": "Largest tensor"}
TEXT_LENGTH = "text length (tokens)"
TABLE_HEADS = {
    "function": "Function",
    "formula": "FLOPs of scores and mix",
    "with numbers": "With numbers",
    "flops": "FLOPs",
    "times_dot": "× dot",
    "milliseconds": "Milliseconds",
    "largest_bytes": "Largest tensor, bytes",
    "parameters": "Learned",
    "scores_times_dot": "Scores alone, × dot",
    "score": "Score",
}
ABOUT_TABLE = (
    "Matrix products of one attention, 2 FLOPs for a multiply-add, float32; the softmax and the tanh are apart. n "
    "queries and n keys, in full whatever a mask hides. The projections to q, k and v are the same for all."
)
FORMULAS: dict[Function, tuple[str, str]] = {
    "dot": ("4 n² d", "4·{n}²·{d}"),
    "general": ("2 n d² + 4 n² d", "2·{n}·{d}² + 4·{n}²·{d}"),
    "additive": ("4 n d² + 4 n² d", "4·{n}·{d}² + 4·{n}²·{d}"),
    "additive_naive": ("4 n² d² + 4 n² d", "4·{n}²·{d}² + 4·{n}²·{d}"),
    "linear": ("4 n d² + 2 n d", "4·{n}·{d}² + 2·{n}·{d}"),
}
"""FLOPs of scores and mix of one head: in letters, and with places for the numbers."""
KIND, SPREAD = "What kind of functions they are", "Spread before training, by width"
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
WAYS = {
    "softmax": "softmax",
    "sigmoid": "sigmoid",
    "linear": "linear",
    "cosine": "softmax of the cosine",
}


def amount_alt(amount: str, *, tokens: int) -> str:
    """Tell what the bars show."""
    return f"{AMOUNTS[amount]} of each score function at {tokens:,} tokens"


def by_length_alt(amount: str) -> str:
    """Tell what the curves show."""
    return f"{AMOUNTS[amount]} of each score function by the length of the text"


def race(*, additive: float, linear: float, cheaper: int) -> str:
    """Say what the functions cost beside dot products, and from which length on linear attention is cheaper.

    additive, linear: FLOPs of scores and mix over the FLOPs of dot products. cheaper: the first length at which linear
    attention takes fewer FLOPs.
    """
    return (
        f"Additive scores, factorised, take {number(additive)} times the FLOPs of dot products here, and linear "
        f"attention {number(linear)} times. From {count_of(cheaper, 'token')} on linear attention takes fewer."
    )


def largest(*, additive: int, dot: int) -> str:
    """Say how large the tensor of all pairs and features is; additive, dot: bytes of the largest tensor."""
    return (
        "Factorised additive scores still make n² d numbers, one tanh for each pair and feature: "
        f"{quantity(additive, 'B')} in one tensor, where dot products make one of {quantity(dot, 'B')}. It is written "
        "and read again, unless a fused kernel makes it piece by piece."
    )


def about_clock(left_out: Mapping[Function, str]) -> str:
    """Say what the clock would measure; left_out: function -> why it would not be timed."""
    without = "".join(
        f" {NAMES[function].capitalize()} would be left out: {why}." for function, why in left_out.items()
    )
    return (
        "Milliseconds are measured on this machine, with random numbers, when you press Measure: scores, softmax and "
        f"mix, or linear attention, in turns.{without}"
    )


def formula(function: Function, *, tokens: int, d_k: int, heads: int) -> tuple[str, str]:
    """Write the FLOPs of scores and mix: in letters, and with numbers."""
    letters, numbers = FORMULAS[function]
    filled = numbers.format(n=f"{tokens:,}", d=f"{d_k:,}")
    return (letters, filled) if heads == 1 else (f"h ({letters})", f"{heads:,} · ({filled})")


def about_properties(head: str) -> str:
    """Say on what the functions were tried."""
    return (
        f"{head}. No model here has learned a general or an additive score: their matrices are drawn, from "
        f"seed 0. Before training: 256 queries and {KEYS} keys with entries of variance 1, means of five "
        "seeds, additive scores as nn.Linear starts them."
    )


def timed(times: FunctionTimes) -> str:
    """Say what each function took, and which were not timed."""
    parts = [f"{NAMES[function]} {number(1000 * seconds)} ms" for function, seconds in times.seconds.items()]
    runs = f"medians of {times.repeats} {'run' if times.repeats == 1 else 'runs'} that take turns, {times.clock}"
    without = "".join(
        f" {NAMES[function].capitalize()} is not timed: {why}." for function, why in times.left_out.items()
    )
    return f"Scores, softmax and mix took: {', '.join(parts)} ({runs}, float32).{without}"


def properties(on_head: FunctionsOnHead, *, width: int) -> list[str]:
    """Say which properties the score functions have, with numbers of the head."""
    off = on_head.doubled
    learns = 2 * width * width + 2 * width
    return [
        f"Naive and factorised are one function, W [q; k] = W_q q + W_k k: on the first {on_head.tokens} tokens of "
        f"this head no weight differs by more than {number(on_head.naive)}, which is rounding in float32.",
        f"A bias behind v moves all scores of a row alike: {SHIFT:+.0f} changes no weight by more than "
        f"{number(on_head.shifted)}. It learns nothing.",
        f"Dot and general scores are bilinear: twice the query is twice the score{_rounding(off)}. Additive scores "
        f"miss that by up to {percent(off['additive'])} of the largest, linear attention's ln(φ(q) · φ(k)) by up to "
        f"{percent(off['linear'])}. The softmax is not linear: twice the scores move a weight of this head by up to "
        f"{number(on_head.weights)}.",
        f"Dot products learn nothing themselves; a general score d² = {width * width:,} numbers in each head, an "
        f"additive one 2 d² + 2 d = {learns:,}, and {learns + 1:,} with that bias of v.",
    ]


def _rounding(off: Mapping[str, float]) -> str:
    most = max(off["dot"], off["general"])
    return f", but for {number(most)} of the largest" if most else ", to the last digit"


def spread(variances: pd.DataFrame) -> str:
    """Say how far scores spread before training, by width; variances: the table of `scores.functions.variances`."""
    table = variances.set_index(["function", "width"])
    least, most = int(variances["width"].min()), int(variances["width"].max())
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


WEIGHING, WEIGHTING = "Weighing the keys anew", "weighting"
WEIGHTING_HEADS = {
    "weighting": "Weighting",
    "entropy": "Entropy, nats",
    "largest": "Largest weight",
    "sums": "Rows sum to",
}
WEIGHTING_FORMULAS = (
    r"**softmax** $A = \mathrm{softmax}(QK^\top / \sqrt{d_k})$ · "
    r"**sigmoid** $A = \sigma(QK^\top / \sqrt{d_k} - \ln n)$, $n$ the keys that a query sees (Ramapuram et al. 2024) · "
    r"**linear** $A_{ij} = \phi(q_i) \cdot \phi(k_j) / \sum_t \phi(q_i) \cdot \phi(k_t)$, $\phi = \mathrm{elu} + 1$ "
    r"(Katharopoulos et al. 2020) · **cosine** $A = \mathrm{softmax}(\cos(q, k))$ (Graves et al. 2014, without their "
    "sharpening)"
)
ABOUT_WEIGHTINGS = (
    "Entropy and largest weight are means over the queries that see more than one key; the entropy is of each row "
    "divided by its sum. q and k are this model's: trained with another weighting, they would be others. A bias on "
    "the scores, a soft-cap or sinks of the model are left out. The two maps of a row share a colour scale."
)


def weightings_alt(first: str, second: str) -> str:
    """Tell what two maps show."""
    return f"Weight of every query on every key: {first}, and {second}"


def first(shown: int) -> str:
    """Say that the maps show a part of the text."""
    return f"Maps show the first {shown} queries and keys; the numbers are of the whole text."


def no_choice(head: str) -> str:
    """Say that no query of a head has a choice."""
    return f"{head} has no choice: each query sees one key."


def weightings(head: str, *, softmax: float, linear: float, cosine: float) -> str:
    """Say what other weightings make of a head's queries and keys, by the mean largest weight of a query."""
    return (
        f"{head}: with a softmax the largest weight of a query is {number(softmax)} on average, with linear attention "
        f"{number(linear)}. With cosines it is {number(cosine)}. A sigmoid's rows need not sum to 1."
    )
