"""Sentences of the section Theory of the page Scores."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.plots.theme import number, signed
from inspector.readings.score_theory import Drawn, Width
from inspector.scores.theory import Example, outside, weight
from inspector.wording.english.phrases import percent


def drawn(found: Drawn) -> str:
    """Say up to which width a row moves more without the scale, and where the reader's heads stand."""
    small, large = found.small, found.large
    if found.crossover is None:
        side = "less" if found.below else "more"
        begin = f"Among {found.keys} random keys a typical row of the softmax moves {side} without the scale at every"
        moves = f"{begin} width drawn: ‖J‖ at d_k = {large.width:,} is {_against(large.jacobian)} with it."
    else:
        moves = (
            f"Among {found.keys} random keys a typical row of the softmax moves more without the scale up to d_k near "
            f"{round(found.crossover):,}, and less beyond: ‖J‖ at {small.width:,} is {_against(small.jacobian)} with "
            f"the scale, and at {large.width:,} it is {_against(large.jacobian)}."
        )
    return " ".join([moves, *(_own(width) for width in found.own[:1])])


def claims(found: Drawn) -> Iterator[str]:
    """Say what the numbers make of the reasons that are often given for the scale, a sentence or two each."""
    small, large = found.least, found.large
    low, high = map(number, found.ratios)
    yield (
        f"**Variance.** Var(q · k) / d_k is {low if low == high else f'{low} to {high}'} at all widths, for the "
        f"entries are independent with mean 0 and variance 1: q · k has variance {number(large.variance[0])} at d_k = "
        f"{large.width:,}, and {number(large.variance[1])} after the scale."
    )
    yield (
        "**Normal only in the limit.** q · k is a sum of d_k products, so it nears a normal distribution as d_k "
        f"grows. Its excess kurtosis is {signed(small.excess)} at d_k = {small.width:,} (in theory "
        f"{number(small.theory)}) and {signed(large.excess)} at {large.width:,}; 0 is normal, above 0 "
        "are heavier tails."
    )
    yield (
        f"**Not against explosion.** At d_k = {large.width:,} the derivative of the weights by the query is "
        f"{_larger(*large.mean_gradient)} on average without the scale ({_against(large.mean_gradient)} with it), and "
        f"{_larger(*large.gradient)} in the median ({_against(large.gradient)}).{_spread(large)} The paper's reason "
        "is the small ones: “extremely small gradients” (Vaswani et al. 2017, section 3.2.1)."
    )
    yield (
        "**Outputs are never too large.** A weight is at most 1. What grows with d_k is the input, with a standard "
        f"deviation of {number(large.variance[0] ** 0.5)} at {large.width:,}: the largest weight of a row is "
        f"{number(large.largest[0])} on average, with the scale {number(large.largest[1])}."
    )
    yield (
        "**No normalisation, and no experiment.** The scale is one constant, 1/√d_k: it takes no mean and no variance "
        "from the text, as a norm does. Vaswani et al. (2017) train no model without it and write “we suspect”; the "
        "Lab trains both."
    )
    if found.itself:
        weights = " and ".join(f"{weight:.4f} of the weight at d = {width}" for width, weight in found.itself.items())
        yield (
            "**Without projections** a token is its own query and key, and sees itself most: softmax(x xᵀ / √d) leaves "
            f"it {weights}, for x · x is about d and a product with another token N(0, d). What is all on the diagonal "
            "mixes nothing: softmax(x xᵀ / √d) x is x again."
        )


def example(found: Example) -> str:
    """Say what the example holds and what it leaves out."""
    others = found.keys - 1
    wins = "more" if found.slope > found.uniform_slope else "less"
    moves = "more" if found.jacobian > found.uniform_jacobian else "less"
    link = "and" if wins == moves else "but"
    return (
        f"A key {number(found.sigmas)} σ above {others} others at 0 gets {number(found.weight)} of the weight without "
        f"the scale, and {number(found.scaled_weight)} with it. Its own slope p(1 − p) = {number(found.slope)} is "
        f"{wins} than the {number(found.uniform_slope)} of {found.keys} equal weights, {link} the whole row moves "
        f"{moves}: ‖J‖ is {number(found.jacobian)} against {number(found.uniform_jacobian)}."
    )


def settled(found: Example) -> Iterator[str]:
    """Say what the example depends on, a sentence each."""
    few, many = (number(weight(keys=keys, score=found.score)) for keys in (10, 512))
    yield (
        f"The key competes with the other keys of the text, not with d_k − 1 of anything: at the same score "
        f"{number(found.score)}, among 10 keys it gets {few}, and among 512 keys {many}."
    )
    yield (
        f"In a text the others are not 0 but spread as widely. With the {found.keys - 1} others drawn from N(0, d_k) "
        f"the key gets {number(found.drawn_weight)} on average; of {found.keys} keys that are all drawn so, the "
        f"largest weight is {number(found.drawn_largest)} on average, and with the scale "
        f"{number(found.scaled_drawn_largest)}."
    )
    yield (
        f"One standard deviation of q · k is √{found.width:,} = {number(found.sigma)}, so a product of "
        f"±{number(found.score)} is {number(found.sigmas)} σ: {_chance(found.beyond)} of normal products are as far "
        f"from 0 or farther. Ten standard deviations would be ±{number(10 * found.sigma)}, with probability "
        f"{number(outside(10))}."
    )


def _own(own: Width) -> str:
    unscaled, scaled = own.jacobian
    if number(unscaled) == number(scaled):
        return f"Your heads have d_k = {own.width:,}, where it is {number(unscaled)} either way."
    than = "more" if unscaled > scaled else "less"
    return f"Your heads have d_k = {own.width:,}: there it moves {than}, {_against(own.jacobian)}."


def _against(pair: tuple[float, float]) -> str:
    return f"{number(pair[0])} against {number(pair[1])}"


def _larger(unscaled: float, scaled: float) -> str:
    return "larger" if unscaled > scaled else "smaller"


def _spread(found: Width) -> str:
    """Say so where the mean and the median disagree on what the scale does."""
    mean, median = (pair[0] > pair[1] for pair in (found.mean_gradient, found.gradient))
    return " A few rows spike, and the typical one moves less." if mean and not median else ""


def _chance(share: float) -> str:
    return number(share) if share < 0.01 else percent(share)
