"""Sentences of the page Scores: every head, one head, queries and keys, dot or cosine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from inspector.plots.theme import Scale
from inspector.text import number, signed
from inspector.wording.english.phrases import percent
from models.formatting import layer_name

if TYPE_CHECKING:
    import pandas as pd

ASKS = "What to see of the scores"
ONE, EVERY, FURTHER = "This head", "All heads", "Why the scale, and other scores"
KEYS, ANGLES = "Queries and keys", "Dot or cosine"
THEORY, GRADIENTS = "Theory", "Gradients"
FUNCTIONS, WEIGHTINGS = "Score functions", "Weightings"

NUMBER_OF_HEAD, ALL_HEADS = "Number of each head", "All numbers of every head"
LAYER, HEAD, QUERY, KEY = "layer", "head", "query", "key"
SIDE_A, SIDE_B, BESIDE = "Side A", "Side B", " (side B)"
SIGMOID = (
    "A sigmoid makes this head's weights, each of its score alone. What is said of a row's weights is of the row "
    "divided by its sum; where a softmax is named for this model's own weights, the sigmoid takes the scores."
)


def head(*, layer: int, head: int, call: int = 0) -> str:
    """Name a head: "Layer 1, head 7"."""
    return f"{layer_name(layer, call).capitalize()}, head {head}"


def column(head: int) -> str:
    """Name a column of a map of heads."""
    return f"head {head}"


def heads_alt(quantity: str) -> str:
    """Tell what a map of heads shows."""
    return f"{quantity} of every head, a row for each layer"


def beside(sentence: str) -> str:
    """Say something of side B."""
    return f"Side B: {sentence}"


# --- every head ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """A number of each head. top: the end of the colour scale; None: the largest number.

    scale: "sqrt" for a number that has no upper end, so that one large head does not pale the others.
    """

    name: str
    meaning: str
    top: float | None = None
    scale: Scale = "linear"


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "ratio": Measure(
            "Var(q · k) / d_k",
            "The variance of q · k over all pairs, before the scale, divided by d_k. It is 1 for independent entries "
            "of mean 0 and variance 1, which is what the paper's footnote assumes (Vaswani et al. 2017, footnote 4).",
            scale="sqrt",
        ),
        "scaled": Measure(
            "After the scale", "The variance of q · k times the model's scale, over all pairs.", scale="sqrt"
        ),
        "kurtosis": Measure(
            "Excess kurtosis",
            "Of q · k over all pairs: 0 for a normal distribution, above it where few pairs stand far out, below it "
            "where none does.",
        ),
        "relative_entropy": Measure(
            "Entropy",
            "−Σ A ln A of each row as a share of ln(keys that the query sees), mean over the queries that see several: "
            "1 where all keys weigh alike, 0 where one has everything.",
            1.0,
        ),
        "largest": Measure(
            "Largest weight", "The largest weight of each row, mean over the queries that see several keys.", 1.0
        ),
        "saturated": Measure(
            "Saturated rows",
            "Of the queries that see several keys, the share that gives one of them over 0.9 of its weight.",
            1.0,
        ),
        "jacobian": Measure(
            "‖J‖ of the softmax",
            "‖J‖ of the softmax of each row, mean over the queries that see several keys, with J = diag(p) − p pᵀ and "
            "‖J‖² = Σ p² − 2 Σ p³ + (Σ p²)²: how far the weights move with the scores. Near 0 the row is one key "
            "alone.",
            0.5,
        ),
    }
)
MEASURING = "Measuring the scores"
COUNTED = (
    "Cells that a mask hides are left out, special tokens are not. A query that sees one key has no choice, and is "
    "left out of what is said of rows."
)
NOT_SEEN = "Queries and keys of this model were not seen, only what its softmax gave."


def scaled(*, heads: int, before: float, after: float | None, root: bool, unscaled: bool) -> str:
    """Say what the scale makes of the variance of q . k in the middle one of the heads.

    before, after: the variance before the scale and after it, medians over the heads; after is None where the heads
    have no scaled dot product. root: the scale is 1 / sqrt(d_k); unscaled: the scale is 1.
    """
    where = "this head" if heads == 1 else "the middle head"
    if after is None or unscaled:
        return f"The variance of q · k is {number(before)} in {where}{', and nothing scales it' if unscaled else ''}."
    return f"{_scale(root)} takes the variance of q · k from {number(before)} to {number(after)} in {where}."


def _scale(root: bool) -> str:
    return "The scale 1/√d_k" if root else "The model's scale"


def ratios(*, heads: int, d_k: int, low: float, high: float) -> str:
    """Say how Var(q . k) differs over the heads: low, high: of Var(q . k) / d_k."""
    if heads == 1:
        return f"Var(q · k) is {number(high)} times d_k = {d_k}."
    return f"Over the {heads} heads Var(q · k) is {number(low)} to {number(high)} times d_k = {d_k}."


def saturated(*, share: float, heads: int, head: str) -> str:
    """Say in which head a single key takes most rows.

    share: the largest share of rows in which one key has over 0.9 of the weight, NaN where no query has a choice.
    heads: the number of heads with this share; head: the first of them.
    """
    if math.isnan(share):
        return "No query has a choice: each sees one key."
    if not share:
        return "In no head does a query give one key over 0.9 of its weight."
    if heads > 1:
        return (
            f"{head} and others are the most saturated: in {percent(share)} of their rows one key has over 0.9 of the "
            "weight."
        )
    return f"{head} is the most saturated: in {percent(share)} of its rows one key has over 0.9 of the weight."


def of_head(head: str, *, measure: str, value: float) -> str:
    """Tell one number of a head: "Layer 1, head 7: Entropy is 0.277."."""
    return f"{head}: {MEASURES[measure].name} is {signed(value)}."


# --- one head --------------------------------------------------------------------------------------------------------

NORMAL = 0.25  # excess kurtosis, to either side, within which a distribution is told as near the normal in this
DEVIATIONS = "standard deviations from the mean"
DISTRIBUTION = "Beside the normal distribution"
HISTOGRAM_TITLE = "q · k over all pairs, beside the normal distribution"
NORMAL_QUANTILE, OWN_QUANTILE = "normal quantile", "quantile of q · k (standard deviations)"
QUANTILES_TITLE = "Quantiles of q · k against the normal distribution's"
HISTOGRAM, HISTOGRAM_ALT = (
    "q · k over all pairs",
    "Histogram of q · k in standard deviations, with the normal distribution over it",
)
QUANTILES, QUANTILES_ALT = (
    "Its quantiles, against the normal distribution's",
    "Quantiles of q · k against those of the normal distribution, with the line where they are equal",
)


SCORES, SCORES_ALT = "Scores S = Q Kᵀ, before scale and mask", "q · k of every query with every key"
WEIGHTS, WEIGHTS_ALT = "Weights A, after scale and mask", "Weight of every query on every key"
SCORES_OF_SIDE, WEIGHTS_OF_SIDE = "{}: scores S, before scale and mask", "{}: weights A"


def first(shown: int, *, of: int) -> str:
    """Say that the maps show a part of the text."""
    return f"The first {shown} of {of:,} tokens."


def one_head(*, head: str, variance: float, scaled: float | None, root: bool, unscaled: bool, kurtosis: float) -> str:
    """Say what the scale makes of one head's q . k, and how it differs from the normal distribution.

    variance: of q . k; scaled: after the scale, None where the head has no scaled dot product. root: the scale is
    1/sqrt(d_k); unscaled: the scale is 1. kurtosis: the excess kurtosis.
    """
    if scaled is None or unscaled:
        rest = ", and nothing scales it" if unscaled else ""
        told = f"{head}: the variance of q · k is {number(variance)}{rest}"
    else:
        scale = "the scale 1/√d_k" if root else "the model's scale"
        told = f"{head}: {scale} takes the variance of q · k from {number(variance)} to {number(scaled)}"
    if abs(kurtosis) <= NORMAL:
        return f"{told}. The values lie as a normal distribution's do: their excess kurtosis is {signed(kurtosis)}."
    tails = "heavier" if kurtosis > 0 else "lighter"
    return f"{told}. Its tails are {tails} than a normal distribution's: their excess kurtosis is {signed(kurtosis)}."


def pairs(count: int, *, rows: int, of: int) -> str:
    """Say how many pairs were read, and of how many of the queries."""
    read_of = "" if rows == of else f", of {rows:,} of the {of:,} queries, evenly over the text"
    return f"{count:,} pairs that no mask hides{read_of}."


def far(*, far: float, low: float, high: float) -> str:
    """Say how many pairs are far out, and the range of the scores."""
    return (
        f"{number(100 * far)} % of the pairs lie more than 2 standard deviations from the mean, of a normal "
        f"distribution 4.55 %. Scores go from {signed(low)} to {signed(high)}."
    )


def numbers(row: pd.Series) -> list[tuple[str, str, str]]:
    """Write the line of a head's numbers; row: of `scores.measure`."""

    def told(*names: str) -> list[str]:
        return [number(row[name]) for name in names]

    if math.isnan(row["entropy"]):
        return []
    entropy, share = told("entropy", "relative_entropy")
    largest, largest_median, saturated = told("largest", "largest_median", "saturated")
    jacobian, jacobian_median = told("jacobian", "jacobian_median")
    entries = [
        (
            "Entropy",
            f"{entropy} nats, {share} of ln n",
            "−Σ A ln A, mean over the queries that see several keys; n: the keys that each sees.",
        ),
        (
            "Largest weight",
            f"{largest}, median {largest_median}",
            "Of each row: mean and median over the queries that see several keys.",
        ),
        ("Saturated rows", saturated, "Of the queries that see several keys, the share that gives one over 0.9."),
    ]
    if not math.isnan(row["jacobian"]):
        spread = f"{jacobian}, median {jacobian_median}"
        entries.append(("‖J‖", spread, "Of the softmax of each row: how far weights move with scores."))
    if not math.isnan(row["within"]):
        entries.append(
            ("Variance in a row", number(row["within"]), "Of the softmax's input, mean over the rows of several keys.")
        )
    return entries


def varies(head: str, *, d_k: int, ratio: float, scaled: float) -> str:
    """Say in short how q . k of side B's head varies; ratio, scaled: NaN where they are not known."""
    if math.isnan(ratio):
        return f"Side B, {head}: queries and keys were not seen."
    after = "" if math.isnan(scaled) else f", after the scale {number(scaled)}"
    return f"Side B, {head}: Var(q · k) is {number(ratio)} times d_k = {d_k}{after}."


def formula(
    scores: str, *, d_k: int, ratio: float, scale: float | None, root: bool, scaled: float, low: float, high: float
) -> str:
    """Write the variances with their numbers, and the formula of the scores, as LaTeX."""
    variance = number(ratio * d_k)
    before = rf"$\mathrm{{Var}}(q \cdot k) = {variance} = {number(ratio)} \times {d_k}$"
    written = rf"$S = {scores}$ from {signed(low)} to {signed(high)}"
    if scale is None:
        return f"{before}; {written}"
    factor = rf"1/\sqrt{{{d_k}}}" if root else number(scale)
    after = rf"$\mathrm{{Var}}(q \cdot k \times {factor}) = {variance} \times {number(scale**2)} = "
    return f"{before}; {after}{number(scaled)}$; {written}"


def alone(difference: float, *, heads: int) -> str:
    """Say how far a head computed alone is from the same head computed with all others."""
    every = "that head" if heads == 1 else f"all {heads} heads"
    return (
        f"Computed alone, this head's weights differ by {number(difference)} at most from those of {every} "
        "in one product: heads side by side in one tensor are a loop over heads."
    )


# --- queries and keys ------------------------------------------------------------------------------------------------

SYMMETRIC = 1e-6  # asymmetry, below which only rounding is left
COMPARING = "Comparing both directions"
TWO_TEXTS = (
    "Queries and keys of cross-attention are two texts, so its scores have no other direction to compare. Choose "
    "another stream."
)
ASYMMETRY = (
    "Asymmetry is ‖M − Mᵀ‖ / ‖M‖: 0 for a symmetric matrix, 1.41 where the two directions have nothing in common. S is "
    "without the mask and the bias; A is as it is."
)
SPECTRUM, SPECTRUM_ALT = (
    "W_Q W_Kᵀ, the matrix that compares two tokens",
    "Singular values of the head's W_Q W_K transposed, the largest first",
)
SPECTRUM_TITLE, PLACE, SIZE = "Singular values of W_Q W_Kᵀ", "singular value, the largest first", "size"
NO_MODEL = "the model of this saved trace is not at hand, and W_Q and W_K are its parameters"
SEVERAL_CALLS = "the layer attends more than once, and which matrices belong to which is not told apart"
ALL = "All heads"
SYMMETRIES = {"scores": "Asymmetry of S", "weights": "Asymmetry of A", "diagonal": "Weight on the diagonal"}


def sides(*, head: str, scores: float, weights: float | None, causal: bool, diagonal: float, even: float) -> str:
    """Say whether scores and weights are symmetric, and what a token gives itself.

    scores: the asymmetry of S, NaN where queries and keys were not seen. weights: the asymmetry of A, None where A is
    too large to be held beside its transpose. causal: a mask hides later tokens. diagonal, even: columns of
    `scores.symmetry.measure`; NaN where no query has a choice.
    """
    if math.isnan(scores):
        first = f"{head}: queries and keys were not seen"
        first += "" if weights is None else f"; the asymmetry of A is {number(weights)}"
    elif scores <= SYMMETRIC:
        rest = "" if weights is None else _not_weights(weights, causal=causal)
        first = f"{head} has symmetric scores: the asymmetry of S is {number(scores) if scores else '0'}{rest}"
    else:
        rest = "" if weights is None else f", that of A {number(weights)}"
        first = f"{head} scores a pair differently in its two directions: the asymmetry of S is {number(scores)}{rest}"
    if math.isnan(diagonal):
        return f"{first}. No query has a choice here."
    return f"{first}. A token gives itself {percent(diagonal)} of its weight; even attention gives {percent(even)}."


def peak(share: float, *, causal: bool) -> str:
    """Say how many queries give most to their own key, and what a causal mask does to A; share: NaN for no choice."""
    told = "" if math.isnan(share) else f"For {percent(share)} of the queries their own key is the largest."
    return f"{told}{' The causal mask alone makes A one-sided.' if causal else ''}".strip()


def _not_weights(asymmetry: float, *, causal: bool) -> str:
    if asymmetry <= SYMMETRIC:
        return ", and that of A too"
    why = "the causal mask alone makes it one-sided" if causal else "each row has a normaliser of its own"
    return f", but that of A is {number(asymmetry)}, for {why}"


def product(
    *,
    width: int,
    d_k: int,
    rank: int,
    effective: float,
    energy: int,
    symmetric: float,
    positive: int,
    on_text: int,
    tokens: int,
    values: float | None,
    turned: bool,
) -> str:
    """Describe W_Q W_K^T of a head, and the rank of Q K^T on the text.

    width: D. rank, effective, energy, symmetric, positive: fields of `scores.Spectrum`. on_text: the rank of Q K^T.
    values: ||W_K - W_V|| / ||W_K||, None where unknown. turned: the model turns queries and keys by position.
    """
    sentence = (
        f"W_Q W_Kᵀ is {width} x {width} and has rank {rank}: at most d_k = {d_k}. {energy} of its {d_k} singular "
        f"values have 99 % of its energy; its effective rank is {number(effective)}. {percent(symmetric)} of its "
        "energy is in its symmetric part (half for two unrelated matrices, all for W_Q = W_K), and "
        f"{positive} of {d_k} eigenvalues have a real part above 0. On this text Q Kᵀ is {tokens:,} x {tokens:,} and "
        f"has rank {on_text}."
    )
    if turned:
        sentence += " The model turns queries and keys by position (RoPE): this is the product before the turn."
    if values is not None:
        sentence += f" ‖W_K − W_V‖ / ‖W_K‖ is {number(values) if values else '0: they are one matrix'}."
    return sentence


# --- dot or cosine ---------------------------------------------------------------------------------------------------

RANKING = "Ranking the keys"
RANKS = {"distance": "With distance", "cosine": "With cosine", "key_spread": "Spread of key lengths"}
CORRELATIONS = {
    "distance": "rank correlation with distance",
    "cosine": "rank correlation with cosine",
    "key_spread": "Spread of key lengths",
}
LENGTHS, LENGTHS_ALT, LENGTH = (
    "How long each token's key is",
    "Length of the key of each token in the open head",
    "|k|",
)
NO_ORDER = "Queries and keys were not seen, or no query sees three keys: there is no order."
FIXED, BACKWARDS = "Beside a fully connected layer over the tokens", "Reading the text backwards"
ANOTHER_TEXT = "Choose another text, or another model."
NEEDS_ITSELF = "The text is read again for this: attention of a text to itself and a model that is at hand are needed."


def spearman(rows: int) -> str:
    """Say what the rank correlations are; rows: the number of queries that are ranked."""
    return (
        "Spearman's rank correlation of q · k with the cosine, and with −|q − k|, in a row over the keys that it "
        f"sees; mean over at most {rows} queries, evenly over the text. With |q − k|² = |q|² + |k|² − "
        "2 q · k all three orders are one where all keys have one length."
    )


def lowest(head: str, *, heads: int, least: float) -> str:
    """Say which of several heads orders the keys least as distance does, "" for a single head; least: its number."""
    if heads == 1:
        return ""
    return f"Of {heads} heads {_within(head)} differs most from distance: {signed(least)}."


def angles(*, heads: int, cosine: float, distance: float) -> str:
    """Say whether q . k ranks the keys as cosine and distance do; cosine, distance: medians over `heads` heads."""
    middle = "In this head" if heads == 1 else "In the middle head"
    return (
        f"{middle} q · k ranks the keys as cosine does at a rank correlation of {signed(cosine)}, and as distance does "
        f"at {signed(distance)}."
    )


def own_angles(head: str, *, cosine: float, distance: float) -> str:
    """Say how the open head ranks its keys."""
    return f"{head}: {signed(cosine)} with cosine, {signed(distance)} with distance."


def no_order(head: str) -> str:
    """Say why the open head ranks no keys."""
    return f"{head} has no query that sees three keys with different q · k."


def key_lengths(head: str, *, spread: float, longest: float) -> str:
    """Say how far the lengths of the open head's keys spread."""
    return (
        f"{head}: its keys' lengths spread by {percent(spread)} of their mean, and the longest is {number(longest)} "
        "times the shortest. With equal lengths all three orders would be one."
    )


def needs_short(tokens: int) -> str:
    """Say what the text and the model must be to be read again."""
    return (
        f"The text is read again for this: a text of at most {tokens:,} tokens and a model that is at hand are needed."
    )


def fixed(*, head: str, largest: float, most: str, over_all: float, tokens: int, parameters: int) -> str:
    """Say how far a text changes the weights of attention, where a fully connected layer's stay.

    largest: the largest change of a weight of the open head; over_all: the largest of all heads, in the head `most`.
    """
    change = f"a weight of {_within(head)} changes by up to {number(largest)}"
    if most == head:
        change += ", the most of all heads"
    else:
        change += f", and one of {_within(most)} by {number(over_all)}, the most of all heads"
    return (
        f"Read backwards, this text makes other weights: {change}. A fully connected layer over its {tokens:,} tokens "
        f"would have {tokens:,} x {tokens:,} = {parameters:,} weights of its own, for this length alone, and no text "
        "would change one of them."
    )


def _within(head: str) -> str:
    return head[0].lower() + head[1:]
