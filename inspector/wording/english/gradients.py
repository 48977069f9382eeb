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


def gradients(*, size: Size, queries: tuple[float, float], values: tuple[float, float], times: float) -> str:
    """Say whether the softmax starves W_Q and not W_V as scores grow, with W_Q's numbers.

    queries, values: sizes of the entries of W_Q's and W_V's gradients, mean over the layers: at the model's factor, and
    at `times` the model's factor.
    """
    query, value = _ratio(*queries), _ratio(*values)
    if query < 0.1 <= value:
        point = "A softmax that saturates starves W_Q here, and not W_V."
    elif query < value:
        point = "W_Q's gradient suffers more than W_V's from larger scores here."
    else:
        point = "On this text W_Q's gradient does not suffer more than W_V's from larger scores."
    return f"{point} With scores {number(times)} times the model's, W_Q's {size} entry {_becomes(*queries)}."


def why(*, size: Size, queries: tuple[float, float], values: tuple[float, float]) -> str:
    """Say why the softmax starves W_Q and not W_V, or what a mean hides; queries, values: as of `gradients`."""
    query, value = _ratio(*queries), _ratio(*values)
    if query < 0.1 <= value:
        return "W_Q's gradient passes through the softmax's Jacobian, W_V's is mixed by the weights themselves."
    if query >= value and size == "mean":
        return "A mean is carried by its largest entries: the median says what most entries get."
    return ""


def without(
    *,
    size: Size,
    scaled: bool,
    queries: tuple[float, float],
    values: tuple[float, float, float],
    times: float,
    largest: float,
) -> str:
    """Say what the scale does to W_Q's gradient and to W_V's, and what larger scores do to W_V's.

    scaled: the model has a scale, so that leaving it out changes something. queries: the size of the entries of W_Q's
    gradient, mean over the layers: at the model's factor, and at 1; values: of W_V's, and at `times` the model's
    factor. largest: the mean largest weight of a row at `times` the model's factor.
    """
    entry = f"the {size} entry"
    value, value_without, value_end = values
    scale = (
        f"Without its scale {entry} of the gradient into W_Q {_becomes(*queries)}, and of W_V's "
        f"{_becomes(value, value_without)}."
        if scaled
        else f"This model has no scale: {entry} of the gradient into W_Q is {number(queries[0])}, of W_V's "
        f"{number(value)}."
    )
    return (
        f"{scale} With scores {number(times)} times the model's the largest weight of a row is {number(largest)} on "
        f"average, and W_V's entry {_becomes(value, value_end)}."
    )


def starved(*, layer: int, queries: float, values: float, largest: float) -> str:
    """Say in which layer the softmax passes next to nothing: entries of W_Q's and W_V's gradients, largest weight."""
    return (
        f"In layer {layer} the softmax is saturated at the model's own scale: a row's largest weight is "
        f"{number(largest)} on average, and W_Q's entry is {_small(queries)} where W_V's is {number(values)}."
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
