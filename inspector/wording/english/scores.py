"""Sentences of the page Scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from inspector.plots.theme import number
from inspector.readings.scores import Every, Place
from inspector.wording.english.phrases import percent
from models.formatting import layer_name


@dataclass(frozen=True)
class Measure:
    """A number of each head: its name, what it means, and where its colour scale ends (None: at the largest)."""

    name: str
    meaning: str
    top: float | None = None


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "ratio": Measure(
            "Var(q · k) / d_k",
            "The variance of q · k over all pairs, before the scale, divided by d_k. It is 1 for independent entries "
            "of mean 0 and variance 1, which is what the paper's footnote assumes (Vaswani et al. 2017, footnote 4).",
        ),
        "scaled": Measure("After the scale", "The variance of q · k times the model's scale, over all pairs."),
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
            "Softmax still moves",
            "‖J‖ of the softmax of each row, mean over the queries, with J = diag(p) − p pᵀ and "
            "‖J‖² = Σ p² − 2 Σ p³ + (Σ p²)²: how far the weights move with the scores. Near 0 the row is one key "
            "alone.",
            math.sqrt(0.5),
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
    if found.scaled is None or found.root:
        return ", and so is the variance after the scale 1/√d_k, where 1 was meant" if found.root else ""
    low, high = found.scaled
    return f"; after the scale it is {number(low)}" + ("" if found.heads == 1 else f" to {number(high)}")


def _full(found: Every) -> str:
    if math.isnan(found.share):
        return "No query has a choice: each sees one key."
    if not found.share:
        return "In no head does a query give one key over 0.9 of its weight."
    return f"{head(found.fullest)} is the fullest: {percent(found.share)} of its rows give one key over 0.9."


def head(place: Place) -> str:
    """Name a head: "Layer 1, head 7"."""
    return f"{layer_name(place.layer, place.call).capitalize()}, head {place.head}"


def terms(found: Every) -> tuple[str, ...]:
    """Return the glossary's names of what the sentence speaks of."""
    return ("q · k", "d_k") if found.d_k else ("attention",)
