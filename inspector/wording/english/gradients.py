"""Sentences of the section Gradients of the page Scores."""

from __future__ import annotations

from inspector.interventions.gradients import HIDDEN_EVERY, About
from inspector.plots.theme import number
from inspector.readings.gradients import Gradients, Starved

LEAST = 1e-12
_EQUAL = 0.005  # a ratio this near 1 is told as no change


def gradients(found: Gradients) -> str:
    """Say what the scale does to W_Q's gradient and to W_V's, and what a saturated softmax does to both."""
    entry = f"the {found.size} entry"
    without = (
        f"Without its scale {entry} of the gradient into W_Q {_becomes(found.own, found.without)}, and of W_V's "
        f"{_becomes(found.own_value, found.without_value)}. "
        if found.scaled
        else f"This model has no scale: {entry} of the gradient into W_Q is {number(found.own)}, of W_V's "
        f"{number(found.own_value)}. "
    )
    return (
        f"{without}With scores {number(found.times)} times the model's, where the largest weight of a row is "
        f"{number(found.largest)} on average, W_Q's {_becomes(found.own, found.end)} and W_V's "
        f"{_becomes(found.own_value, found.end_value)}."
    )


def verdict(found: Gradients) -> str:
    """Say whether the softmax starves W_Q and not W_V here, as scores grow and at the model's own scale."""
    return " ".join([_as_scores_grow(found), *map(_starved, found.starved[:1])])


def _starved(layer: Starved) -> str:
    return (
        f"In layer {layer.layer} the softmax is saturated at the model's own scale: a row's largest weight is "
        f"{number(layer.largest)} on average, and W_Q's entry is {_small(layer.queries)} where W_V's is "
        f"{number(layer.values)}."
    )


def _as_scores_grow(found: Gradients) -> str:
    queries, values = (_ratio(*pair) for pair in ((found.own, found.end), (found.own_value, found.end_value)))
    if queries < 0.1 <= values:
        return (
            "So a softmax that saturates starves W_Q, whose gradient passes through its Jacobian, and not W_V, whose "
            "gradient is mixed by the weights themselves."
        )
    if queries < values:
        return "W_Q's gradient suffers more than W_V's from larger scores here."
    mean = " A mean is carried by its largest entries: the median says what most entries get."
    return "On this text W_Q's gradient does not suffer more than W_V's from larger scores." + (
        mean if found.size == "mean" else ""
    )


def scalar(about: About) -> str:
    """Say what is differentiated."""
    count = about.count
    match about.scalar:
        case "next token":
            what = f"the mean of −ln p of the next token, over the {count} that are known"
        case "hidden tokens":
            what = (
                f"the mean of −ln p of {'a hidden token' if count == 1 else f'{count} hidden tokens'}, one in "
                f"{HIDDEN_EVERY}"
            )
        case _:
            what = (
                "the mean over the tokens of u · h, with h the last state and u one random direction of entries "
                "N(0, 1/D), for the model has no head and so no loss"
            )
    return (
        f"Differentiated: {what}. Sizes are of the entries of the gradient. The factor on the scores alone changes, "
        "and the weights stay as they were learned: a model trained with another factor would have other weights."
    )


def _becomes(before: float, after: float) -> str:
    ratio = _ratio(before, after)
    if abs(ratio - 1) < _EQUAL:
        return f"stays at {number(before)}"
    verb = "grows" if ratio > 1 else "shrinks"
    return f"{verb} from {_small(before)} to {_small(after)}"


def _small(value: float) -> str:
    """Write a size; what is below LEAST is the rounding of weights that are 1 but for their last digit."""
    return "less than 1e-12" if value < LEAST else number(value)


def _ratio(before: float, after: float) -> float:
    return after / before if before else float("inf")
