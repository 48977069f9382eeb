"""Sentences of the section Gradients of the page Scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from inspector.interventions.gradients import HIDDEN_EVERY
from inspector.text import number

if TYPE_CHECKING:
    from inspector.interventions.gradients import Scalar

Size = Literal["median", "mean"]
ENTRY = "Which entry of a gradient"
SIZES = {"median": "Median entry", "mean": "Mean entry"}
START, TAKING, FACTOR = "Take the gradients", "Taking gradients", "factor"
ANOTHER = "Choose another text or model."
SHARED = "W_Q or W_V is shared with another matrix here, and its gradient is that of both."
BY_LAYER, BY_LAYER_BOTH, BY_LAYER_ALT = (
    "By layer",
    "By layer, with the scale and without",
    "Size of the gradients into W_Q and W_V by layer, with the model's scale and without",
)
BY_FACTOR, BY_FACTOR_ALT = (
    "As the softmax saturates",
    "Size of the gradients into W_Q, W_K and W_V by how large the scores are",
)
GRADIENTS_BY_LAYER, GRADIENTS_BY_FACTOR = "Gradients by layer", "Gradients as the softmax saturates"
NONE, OWN = "none", "the model's"
NO_SCALE, OWN_NO_SCALE = "no scale", "no scale, the model's"
TIMES_OWN = "scores, times the model's"
LEAST = 1e-12
_EQUAL = 0.005  # a ratio this near 1 is told as no change


def entry(size: Size) -> str:
    """Name the axis of the sizes."""
    return f"{size} size of an entry"


def long(tokens: int) -> str:
    """Say what a long text takes."""
    return (
        f"{tokens:,} tokens go forward and back through a copy of the model in float64, ten times, which can take "
        "a minute."
    )


def gradients(
    *,
    size: Size,
    scaled: bool,
    queries: tuple[float, float, float],
    values: tuple[float, float, float],
    times: float,
    largest: float,
) -> str:
    """Say what the scale does to W_Q's gradient and to W_V's, and what a saturated softmax does to both.

    scaled: the model has a scale, so that leaving it out changes something. queries, values: sizes of the entries of
    W_Q's and W_V's gradients, mean over the layers: at the model's factor, at 1, and at `times` the model's factor.
    largest: the mean largest weight of a row at `times` the model's factor.
    """
    entry = f"the {size} entry"
    (query, query_without, query_end), (value, value_without, value_end) = queries, values
    without = (
        f"Without its scale {entry} of the gradient into W_Q {_becomes(query, query_without)}, and of W_V's "
        f"{_becomes(value, value_without)}. "
        if scaled
        else f"This model has no scale: {entry} of the gradient into W_Q is {number(query)}, of W_V's {number(value)}. "
    )
    return (
        f"{without}With scores {number(times)} times the model's, where the largest weight of a row is "
        f"{number(largest)} on average, W_Q's {_becomes(query, query_end)} and W_V's {_becomes(value, value_end)}."
    )


def starved(*, layer: int, queries: float, values: float, largest: float) -> str:
    """Say in which layer the softmax passes next to nothing: entries of W_Q's and W_V's gradients, largest weight."""
    return (
        f"In layer {layer} the softmax is saturated at the model's own scale: a row's largest weight is "
        f"{number(largest)} on average, and W_Q's entry is {_small(queries)} where W_V's is {number(values)}."
    )


def verdict(*, size: Size, queries: tuple[float, float], values: tuple[float, float]) -> str:
    """Say whether the softmax starves W_Q and not W_V as scores grow; queries, values: entries before and after."""
    query, value = _ratio(*queries), _ratio(*values)
    if query < 0.1 <= value:
        return (
            "So a softmax that saturates starves W_Q, whose gradient passes through its Jacobian, and not W_V, whose "
            "gradient is mixed by the weights themselves."
        )
    if query < value:
        return "W_Q's gradient suffers more than W_V's from larger scores here."
    mean = " A mean is carried by its largest entries: the median says what most entries get."
    return "On this text W_Q's gradient does not suffer more than W_V's from larger scores." + (
        mean if size == "mean" else ""
    )


def scalar(scalar: Scalar, *, count: int) -> str:
    """Say what is differentiated; count: how many tokens are predicted."""
    match scalar:
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
    """Write a size; below LEAST it is the rounding of weights that are 1 but for their last digit."""
    return "less than 1e-12" if value < LEAST else number(value)


def _ratio(before: float, after: float) -> float:
    return after / before if before else float("inf")
