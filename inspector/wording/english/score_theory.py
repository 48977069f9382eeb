"""Sentences of the section Theory of the page Scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.scores.theory import ScaleExample, outside, weight
from inspector.text import number, signed
from inspector.wording.english.phrases import percent

Both = tuple[float, float]  # without the scale, and with it

KEYS, SEED, ENTRIES_ASKED = "Keys", "Seed", "Entries of q and k"
ENTRIES = {"normal": "Normal entries", "uniform": "Uniform entries"}
HEADINGS = {
    "jacobian": "How far a row moves with its scores",
    "gradient": "How far it moves with its query",
    "variance": "Variance of the scores",
    "excess": "Tails of q · k",
}
AXES = {"jacobian": "‖J‖ of the softmax", "gradient": "‖∂p / ∂q‖", "variance": "variance", "excess": "excess kurtosis"}
_SIDES, _MEANS = {"": "no scale", "scaled_": "scaled"}, ("median", "mean")
CURVES = {
    **{
        quantity: {f"{side}{quantity}_{mean}": f"{words}, {mean}" for side, words in _SIDES.items() for mean in _MEANS}
        for quantity in ("jacobian", "gradient")
    },
    "variance": {f"{side}variance": words for side, words in _SIDES.items()},
    "excess": {"excess": "drawn", "theory": "theory"},
}
"""The curves of each picture: column of the table -> name."""
ALT = "By d_k from 4 to 4,096, without the scale and with it: "
ALTS = {
    "jacobian": "median and mean norm of the softmax's Jacobian",
    "gradient": "median and mean norm of the weights' derivative",
    "variance": "the variance of the scores",
    "excess": "excess kurtosis of the products, and what theory says",
}
NORMS = (
    r"$J_{ij} = p_i(\delta_{ij} - p_j)$, $\|J\|^2 = \sum_i p_i^2(1-p_i)^2 + \sum_{i \ne j} p_i^2 p_j^2$, and "
    r"$\partial p / \partial q = s\,J K$ with the scale $s = 1/\sqrt{d_k}$ or 1. Frobenius norms of each row, "
    "solid their median, dashed their mean; no unit. Independent entries of mean 0 and variance 1, drawn from the "
    "seed; no model and no text."
)
EXAMPLE, KEYS_N, SIGMAS = "One key that stands out", "Keys n", "σ above 0"
MORE = "More: variance, tails, and what the scale is not for"
WEIGHT_HEADS = ["Weight", "Without the scale", "With it"]
ALONE, AMONG, LARGEST = (
    "the key, others at 0",
    "the key, others from N(0, d_k)",
    "largest of n from N(0, d_k)",
)
OF_THE_KEY = (
    r"The weight of the key is $e^s / (e^s + n - 1)$ where the others are 0. Drawn rows: 512 or more, their mean."
)


def heads_here(d_k: int) -> str:
    """Name a line at the width of the reader's heads."""
    return f"your heads: {d_k:,}"


def moves(*, crossover: float | None, below: bool, heads: Mapping[int, Both]) -> str:
    """Say up to which width a row moves more without the scale, and where the reader's heads stand.

    crossover: the d_k from which the median row moves less without the scale; None where no width of the table is, and
    then below: the row moves less without the scale at every width. heads: d_k -> the median ||J||, of the reader's.
    """
    if crossover is None:
        side = "less" if below else "more"
        moves = f"Without the scale a typical row of the softmax moves {side} with its scores at every width."
    else:
        moves = (
            "Without the scale a typical row of the softmax moves less with its scores once heads are wider than "
            f"{round(crossover):,}, and more below."
        )
    return " ".join([moves, *(_in_heads(width, pair) for width, pair in heads.items())])


def examples(keys: int, shown: Mapping[int, Both]) -> str:
    """Give the median ||J|| of two widths; shown: d_k -> without the scale, and with it."""
    told = " and ".join(f"{_against(pair)} with the scale at d_k = {width:,}" for width, pair in shown.items())
    return f"Among {keys} random keys ‖J‖ is {told}."


def variance(*, ratios: tuple[float, float], d_k: int, variance: Both) -> str:
    """Say that the variance grows with the width; ratios: the smallest and the largest variance over d_k."""
    low, high = map(number, ratios)
    return (
        f"**Variance.** Var(q · k) / d_k is {low if low == high else f'{low} to {high}'} at all widths, for the "
        f"entries are independent with mean 0 and variance 1: q · k has variance {number(variance[0])} at d_k = "
        f"{d_k:,}, and {number(variance[1])} after the scale."
    )


def normal(*, excess: Mapping[int, float], theory: float) -> str:
    """Say that products near a normal distribution; excess: by a small and a large d_k; theory: at the small."""
    (small, of_small), (large, of_large) = excess.items()
    return (
        "**Normal only in the limit.** q · k is a sum of d_k products, so it nears a normal distribution as d_k "
        f"grows. Its excess kurtosis is {signed(of_small)} at d_k = {small:,} (in theory {number(theory)}) and "
        f"{signed(of_large)} at {large:,}; 0 is normal, above 0 are heavier tails."
    )


def explosion(*, d_k: int, mean: Both, median: Both) -> str:
    """Say what the scale does to the derivative of the weights by the query, on average and in the median."""
    spikes = mean[0] > mean[1] and median[0] <= median[1]  # mean and median disagree on what the scale does
    spread = " A few rows spike, and the typical one moves less." if spikes else ""
    return (
        f"**Not against explosion.** At d_k = {d_k:,} the derivative of the weights by the query is {_larger(*mean)} "
        f"on average without the scale ({_against(mean)} with it), and {_larger(*median)} in the median "
        f"({_against(median)}).{spread} The paper's reason is the small ones: “extremely small gradients” (Vaswani et "
        "al. 2017, section 3.2.1)."
    )


def outputs(*, d_k: int, deviation: float, largest: Both) -> str:
    """Say that no output is too large; largest: the mean largest weight of a row."""
    return (
        "**Outputs are never too large.** A weight is at most 1. What grows with d_k is the input, with a standard "
        f"deviation of {number(deviation)} at {d_k:,}: the largest weight of a row is {number(largest[0])} on average, "
        f"with the scale {number(largest[1])}."
    )


CONSTANT = (
    "**No normalisation, and no experiment.** The scale is one constant, 1/√d_k: it takes no mean and no variance "
    "from the text, as a norm does. Vaswani et al. (2017) train no model without it and write “we suspect”; the "
    "Lab trains both."
)


def itself(by_width: Mapping[int, float]) -> str:
    """Say what a token sees of itself without projections; by_width: d_k -> the weight."""
    weights = " and ".join(f"{weight:.4f} of the weight at d = {width}" for width, weight in by_width.items())
    return (
        "**Without projections** a token is its own query and key, and sees itself most: softmax(x xᵀ / √d) leaves "
        f"it {weights}, for x · x is about d and a product with another token N(0, d). What is all on the diagonal "
        "mixes nothing: softmax(x xᵀ / √d) x is x again."
    )


def weight_formula(case: ScaleExample, *, scaled: bool) -> str:
    """Write the weight of the key with its numbers, as LaTeX."""
    score, weight = (case.sigmas, case.scaled_weight) if scaled else (case.score, case.weight)
    divided, s = rf" / \sqrt{{{case.width}}}" if scaled else "", f"{score:.4g}"
    formula = (
        rf"s = {case.sigmas:.4g} \sqrt{{{case.width}}}{divided} = {s}: \quad "
        rf"\frac{{e^{{{s}}}}}{{e^{{{s}}} + {case.keys - 1}}} = {number(weight)}"
    )
    return f"$$\n{formula}\n$$"


def example(case: ScaleExample) -> str:
    """Say what the example holds and what it leaves out."""
    others = case.keys - 1
    wins = "more" if case.slope > case.uniform_slope else "less"
    moves = "more" if case.jacobian > case.uniform_jacobian else "less"
    link = "and" if wins == moves else "but"
    return (
        f"A key {number(case.sigmas)} σ above {others} others at 0 gets {number(case.weight)} of the weight without "
        f"the scale, and {number(case.scaled_weight)} with it. Its own slope p(1 − p) = {number(case.slope)} is "
        f"{wins} than the {number(case.uniform_slope)} of {case.keys} equal weights, {link} the whole row moves "
        f"{moves}: ‖J‖ is {number(case.jacobian)} against {number(case.uniform_jacobian)}."
    )


def settled(case: ScaleExample) -> Iterator[str]:
    """Say what the example depends on, a sentence each."""
    few, many = (number(weight(keys=keys, score=case.score)) for keys in (10, 512))
    yield (
        f"The key competes with the other keys of the text, not with d_k − 1 of anything: at the same score "
        f"{number(case.score)}, among 10 keys it gets {few}, and among 512 keys {many}."
    )
    yield (
        f"In a text the others are not 0 but spread as widely. With the {case.keys - 1} others drawn from N(0, d_k) "
        f"the key gets {number(case.drawn_weight)} on average; of {case.keys} keys that are all drawn so, the "
        f"largest weight is {number(case.drawn_largest)} on average, and with the scale "
        f"{number(case.scaled_drawn_largest)}."
    )
    yield (
        f"One standard deviation of q · k is √{case.width:,} = {number(case.sigma)}, so a product of "
        f"±{number(case.score)} is {number(case.sigmas)} σ: {_chance(case.beyond)} of normal products are as far "
        f"from 0 or farther. Ten standard deviations would be ±{number(10 * case.sigma)}, with probability "
        f"{number(outside(10))}."
    )


def _in_heads(width: int, pair: Both) -> str:
    unscaled, scaled = pair
    if number(unscaled) == number(scaled):
        return f"Your heads have d_k = {width:,}, where it is {number(unscaled)} either way."
    than = "more" if unscaled > scaled else "less"
    return f"Your heads have d_k = {width:,}: there it moves {than}, {_against(pair)}."


def _against(pair: Both) -> str:
    return f"{number(pair[0])} against {number(pair[1])}"


def _larger(unscaled: float, scaled: float) -> str:
    return "larger" if unscaled > scaled else "smaller"


def _chance(share: float) -> str:
    return number(share) if share < 0.01 else percent(share)
