"""Sentences of the page Scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from inspector.plots.theme import Scale, number, signed
from inspector.readings.scores import NORMAL, SYMMETRIC, Angles, Every, Fixed, One, Place, Product, Sides
from inspector.wording.english.phrases import percent
from models.formatting import layer_name

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measure:
    """A number of each head: its name, what it means, and its colours: where their scale ends (None: at the largest).

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
            "−Σ A ln A of each row as a share of ln(keys that the query sees), mean over the queries: 1 where all keys "
            "weigh alike, 0 where one has everything.",
            1.0,
        ),
        "largest": Measure("Largest weight", "The largest weight of each row, mean over the queries.", 1.0),
        "saturated": Measure("Saturated rows", "The share of queries that give one key over 0.9 of their weight.", 1.0),
        "jacobian": Measure(
            "‖J‖ of the softmax",
            "‖J‖ of the softmax of each row, mean over the queries, with J = diag(p) − p pᵀ and "
            "‖J‖² = Σ p² − 2 Σ p³ + (Σ p²)²: how far the weights move with the scores. Near 0 the row is one key "
            "alone.",
            0.5,
        ),
    }
)
COUNTED = (
    "Cells that a mask hides are left out, special tokens are not. A query that sees one key has no choice, and is "
    "left out of what is said of rows."
)


def every(found: Every) -> str:
    """Say how q . k varies in all heads, and which head's rows are left to one key."""
    if not found.d_k:
        varies = "Queries and keys of this model were not seen, only what its softmax gave."
    elif found.heads == 1:
        varies = f"Var(q · k) is {number(found.high)} times d_k = {found.d_k}{_after(found)}."
    else:
        varies = (
            f"Var(q · k) is {number(found.low)} to {number(found.high)} times d_k = {found.d_k} over the {found.heads} "
            f"heads, in the middle {number(found.median)} times{_after(found)}."
        )
    return f"{varies} {_full(found)}"


def _after(found: Every) -> str:
    if found.scaled is None:
        return ""
    if found.unscaled:
        return ", and nothing scales it"
    low, high = found.scaled
    scale = "the scale 1/√d_k" if found.root else "the scale"
    return f"; after {scale} it is {number(low)}" + ("" if found.heads == 1 else f" to {number(high)}")


def _full(found: Every) -> str:
    if math.isnan(found.share):
        return "No query has a choice: each sees one key."
    if not found.share:
        return "In no head does a query give one key over 0.9 of its weight."
    if found.fullest_heads > 1:
        return (
            f"{found.fullest_heads} heads are the most saturated, {_within(found.fullest)} the first of them: in "
            f"{percent(found.share)} of their rows one key has over 0.9 of the weight."
        )
    return (
        f"{head(found.fullest)} is the most saturated: in {percent(found.share)} of its rows one key has over 0.9 of "
        "the weight."
    )


def head(place: Place) -> str:
    """Name a head: "Layer 1, head 7"."""
    return f"{layer_name(place.layer, place.call).capitalize()}, head {place.head}"


def terms(found: Every) -> tuple[str, ...]:
    """Return the glossary's names of what the sentence speaks of."""
    return ("q · k", "d_k") if found.d_k else ("attention",)


def one(found: One) -> str:
    """Say how one head's q . k varies, what the scale makes of it, and how it differs from the normal distribution."""
    said = f"{head(found.place)}: Var(q · k) is {number(found.ratio)} times d_k = {found.d_k}"
    if found.scale is not None:
        factor = f"1/√{found.d_k}" if found.root else f"the scale {number(found.scale)}"
        said += f", and times {factor} q · k has variance {number(found.scaled)}"
    return f"{said}. {_shape(found)}"


def _shape(found: One) -> str:
    kurtosis = f"Its excess kurtosis is {signed(found.kurtosis)}"
    if abs(found.kurtosis) <= NORMAL:
        return f"{kurtosis}, near the 0 of a normal distribution."
    if found.kurtosis > 0:
        return f"{kurtosis}, above the 0 of a normal distribution: its tails are heavier."
    return f"{kurtosis}, below the 0 of a normal distribution: its tails are lighter."


def far(found: One) -> str:
    """Say how many pairs are far out, and the range of the scores."""
    return (
        f"{number(100 * found.far)} % of the pairs lie more than 2 standard deviations from the mean, of a normal "
        f"distribution 4.55 %. Scores go from {signed(found.low)} to {signed(found.high)}."
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
    found = [
        (
            "Entropy",
            f"{entropy} nats, {share} of ln n",
            "−Σ A ln A, mean over the queries; n: the keys that each sees.",
        ),
        ("Largest weight", f"{largest}, median {largest_median}", "Of each row: mean and median over the queries."),
        ("Saturated rows", saturated, "The share of queries that give one key over 0.9."),
    ]
    if not math.isnan(row["jacobian"]):
        spread = f"{jacobian}, median {jacobian_median}"
        found.append(("‖J‖", spread, "Of the softmax of each row: how far weights move with scores."))
    if not math.isnan(row["within"]):
        found.append(("Variance in a row", number(row["within"]), "Of the softmax's input, mean over the rows."))
    return found


def of_head(name: str, row: pd.Series) -> str:
    """Write one number of the open head: "Layer 1, head 7: **2.77**"."""
    place = Place(int(row["layer"]), int(row.get("call", 0)), int(row["head"]))
    return f"{head(place)}: {MEASURES[name].name} **{signed(row[name])}**"


def varies(row: pd.Series) -> str:
    """Say in short how a head's q . k varies; row: of `scores.measure`."""
    if math.isnan(row["ratio"]):
        return "queries and keys were not seen."
    after = "" if math.isnan(row["scaled"]) else f", after the scale {number(row['scaled'])}"
    return f"Var(q · k) is {number(row['ratio'])} times d_k = {row['d_k']}{after}."


def alone(difference: float, *, heads: int) -> str:
    """Say how far a head computed alone is from the same head computed with all others."""
    return (
        f"Computed alone, this head's weights differ by {number(difference)} at most from those of all {heads} heads "
        "in one product: heads side by side in one tensor are a loop over heads."
    )


def sides(found: Sides) -> str:
    """Say whether scores and weights are symmetric, and what a token gives itself."""
    name, s = head(found.place), found.scores
    a = found.weights
    if math.isnan(s):
        first = f"{name}: queries and keys were not seen" + (
            "" if a is None else f"; the asymmetry of A is {number(a)}"
        )
    elif s <= SYMMETRIC:
        rest = "" if a is None else _not_weights(a, causal=found.causal)
        first = f"{name} has symmetric scores: the asymmetry of S is {number(s) if s else '0'}{rest}"
    else:
        rest = "" if a is None else f", that of A {number(a)}{_masked(found)}"
        first = f"{name} scores a pair differently in its two directions: the asymmetry of S is {number(s)}{rest}"
    return f"{first}. {_diagonal(found)}"


def _not_weights(a: float, *, causal: bool) -> str:
    if a <= SYMMETRIC:
        return ", and that of A too"
    why = "the causal mask alone makes it one-sided" if causal else "each row has a normaliser of its own"
    return f", but that of A is {number(a)}, for {why}"


def _masked(found: Sides) -> str:
    return " (the causal mask alone makes it one-sided)" if found.causal else ""


def _diagonal(found: Sides) -> str:
    if math.isnan(found.diagonal):
        return "No query has a choice here."
    return (
        f"A token gives itself {percent(found.diagonal)} of its weight, where even attention gives "
        f"{percent(found.even)}; for {percent(found.peak)} of the queries their own key is the largest."
    )


def product(found: Product) -> str:
    """Say what W_Q W_K^T of a head is, and the rank of Q K^T on the text."""
    said = (
        f"W_Q W_Kᵀ is {found.width} x {found.width} and has rank {found.rank}: at most d_k = {found.d_k}. "
        f"{found.energy} of its {found.d_k} singular values have 99 % of its energy; its effective rank is "
        f"{number(found.effective)}. {percent(found.symmetric)} of its energy is in its symmetric part (half for two "
        f"unrelated matrices, all for W_Q = W_K), and {found.positive} of {found.d_k} eigenvalues have a real part "
        f"above 0. On this text Q Kᵀ is {found.tokens:,} x {found.tokens:,} and has rank {found.on_text}."
    )
    if found.turned:
        said += " The model turns queries and keys by position (RoPE): this is the product before the turn."
    if found.values is not None:
        said += f" ‖W_K − W_V‖ / ‖W_K‖ is {number(found.values) if found.values else '0: they are one matrix'}."
    return said


def angles(found: Angles | None) -> str:
    """Say whether q . k ranks the keys as cosine and distance do."""
    if found is None:
        return "Queries and keys were not seen, or no query sees three keys: there is no order."
    middle = "In this head" if found.heads == 1 else f"In the middle one of {found.heads} heads"
    said = (
        f"{middle} the order of the keys by q · k agrees with that by cosine at a rank correlation of "
        f"{signed(found.cosine)}, and with that by distance at {signed(found.distance)}."
    )
    if found.heads == 1:
        return said
    return f"{said} It differs most from distance in {_within(found.lowest)}: {signed(found.least)}."


def own_angles(found: Angles) -> str:
    """Say it of the open head, with the spread of its keys' lengths."""
    if math.isnan(found.own_cosine):
        return f"{head(found.place)} has no query that sees three keys with different q · k."
    return (
        f"{head(found.place)}: {signed(found.own_cosine)} with cosine, {signed(found.own_distance)} with distance. Its "
        f"keys' lengths spread by {percent(found.spread)} of their mean, and the longest is {number(found.longest)} "
        "times the shortest: with equal lengths all three orders would be one."
    )


def fixed(found: Fixed) -> str:
    """Say how far a text changes the weights, beside those of a fully connected layer."""
    own = f"a weight of {_within(found.place)} changes by up to {number(found.largest)}"
    if found.most == found.place:
        own += ", the most of all heads"
    else:
        own += f", and one of {_within(found.most)} by {number(found.over_all)}, the most of all heads"
    return (
        f"Read backwards, this text makes other weights: {own}. A fully connected layer over its {found.tokens:,} "
        f"tokens would have {found.tokens:,} x {found.tokens:,} = {found.parameters:,} weights of its own, for this "
        "length alone, and no text would change one of them."
    )


def _within(place: Place) -> str:
    name = head(place)
    return name[0].lower() + name[1:]
