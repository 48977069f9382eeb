"""Queries and keys drawn at random: what width does to their dot products, to the softmax and to its gradients.

```python
table = drawn(keys=64, entries="normal", seed=0)  # a row for each d_k from 4 to 4096
crossover(table)  # the d_k from which the unscaled softmax passes less gradient than the scaled one
```

Vaswani et al. (2017), section 3.2.1, footnote 4: where the entries of q and k are independent with mean 0 and variance
1, q . k = sum_i q_i k_i has mean 0 and variance d_k.

Shapes: G groups of queries that share their keys, Q queries of a group, n keys, E = d_k.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import erfc, exp, sqrt
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.scores.saturation import jacobian_norm

Float64Array = NDArray[np.float64]
Entries = Literal["normal", "uniform"]

WIDTHS = tuple(2**power for power in range(2, 13))  # d_k from 4 to 4096
MOST_KEYS = 512
_PAIRS = 2**16  # of a query and a key, for each d_k
_ROWS = (256, 1024)  # queries of each d_k, at least and at most
_ENTRIES = 2**20  # numbers of keys for each d_k, about
_GROUPS = (4, 128)  # at least and at most
_AT_ONCE = 2**20  # numbers of queries and keys at once: what is held is a few of these arrays
_EXCESS: dict[Entries, float] = {"normal": 6.0, "uniform": 0.24}
"""Kurtosis of the product of two entries, 3 * 3 or 1.8 * 1.8, less 3."""


# --- the softmax ---------------------------------------------------------------------------------------------------


def softmax(scores: Float64Array) -> Float64Array:
    """p_i = e^(s_i) / sum_j e^(s_j) of each row [..., n]."""
    weights: Float64Array = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def query_gradient_norm(weights: Float64Array, distances: Float64Array) -> Float64Array:
    """Frobenius norm of dp / dq where p = softmax(q . k): weights [..., Q, n], squared distances of keys [..., n, n] ->
    [..., Q].

    dp_i / dq = p_i (k_i - m) with m = sum_j p_j k_j, so its square is sum_i p_i^2 ||k_i - m||^2, and
    ||k_i - m||^2 = sum_j p_j d_ij - sum_jl p_j p_l d_jl / 2 with d_ij = ||k_i - k_j||^2. The largest weight is taken
    out and 1 - p summed from the others, so that a saturated row keeps its digits. A factor on the scores is one on
    the norm.
    """
    place = weights.argmax(axis=-1)[..., None]
    largest = np.take_along_axis(weights, place, axis=-1)  # [..., Q, 1]
    rest = weights.copy()
    np.put_along_axis(rest, place, 0.0, axis=-1)
    of_largest = np.take_along_axis(distances, place, axis=-2)  # [..., Q, n]
    to_rest = rest @ distances  # [..., Q, n]
    apart, among = (rest * of_largest).sum(axis=-1), (rest * to_rest).sum(axis=-1) / 2
    of_others = to_rest + largest * of_largest - (largest[..., 0] * apart + among)[..., None]
    square_of_largest = np.square(largest[..., 0]) * (rest.sum(axis=-1) * apart - among)
    norm: Float64Array = np.sqrt(np.maximum(square_of_largest + (np.square(rest) * of_others).sum(axis=-1), 0.0))
    return norm


# --- random queries and keys ---------------------------------------------------------------------------------------


def drawn(
    *, keys: int = 64, entries: Entries = "normal", seed: int = 0, widths: Sequence[int] = WIDTHS
) -> pd.DataFrame:
    """Draw queries and keys of every width with independent entries of mean 0 and variance 1, and measure.

    Columns: width (d_k); pairs; variance of q . k, and scaled_variance of q . k / sqrt(d_k); excess, the kurtosis of
    q . k less 3, which is 0 for a normal distribution; then, without the scale and with it ("scaled_"), mean and median
    over the queries ("_mean", "_median") of jacobian, ||J|| of the softmax; of gradient, the norm of the
    weights' derivative by the query, ||dp/dq|| = scale ||J K|| (`query_gradient_norm`); of largest, a row's largest
    weight.

    Raises ValueError for a number of keys outside 2 to MOST_KEYS, and for a width below 1.
    """
    if not 2 <= keys <= MOST_KEYS:
        raise ValueError(f"{keys} keys; they go from 2 to {MOST_KEYS}")
    if min(widths, default=1) < 1:
        raise ValueError(f"d_k is {min(widths)}; it is 1 or more")
    rows = [_measure(width, keys=keys, entries=entries, seed=seed) for width in widths]
    return pd.DataFrame(rows)


def excess(width: int, entries: Entries) -> float:
    """The kurtosis of q . k less 3 in theory: that of the product of two entries over d_k, so it goes to 0 (CLT)."""
    return _EXCESS[entries] / width


def itself(*, keys: int, width: int, seed: int = 0) -> float:
    """The mean weight of a token on itself where it is its own query and key: softmax(x x^T / sqrt(d)), x ~ N(0, 1).

    x . x is about d, a product with another token N(0, d); so the own score stands sqrt(d) deviations above the others.
    """
    x = np.random.default_rng([seed, keys, width]).standard_normal((4, keys, width))
    return float(np.diagonal(softmax(x @ x.mT * width**-0.5), axis1=-2, axis2=-1).mean())


def crossover(table: pd.DataFrame) -> float | None:
    """Find the d_k where the median Jacobian without the scale falls below that with it; None where it does not.

    Between two widths the ratio's logarithm is taken as a line over the logarithm of d_k.
    """
    widths = np.log(table["width"].to_numpy(float))
    ratio = np.log(np.maximum(table["jacobian_median"], 1e-300)) - np.log(table["scaled_jacobian_median"])
    above = np.flatnonzero(ratio.to_numpy() >= 0)
    if not len(above) or above[-1] == len(table) - 1:
        return None
    at = int(above[-1])
    share = ratio[at] / (ratio[at] - ratio[at + 1])
    return float(np.exp(widths[at] + share * (widths[at + 1] - widths[at])))


def _measure(width: int, *, keys: int, entries: Entries, seed: int) -> dict[str, float]:
    dots: list[Float64Array] = []
    collected: dict[str, list[Float64Array]] = defaultdict(list)
    for q, k in _groups(width, keys=keys, entries=entries, seed=seed):
        products = (q @ k.mT).astype(np.float64)  # [G, Q, n]
        inner = (k @ k.mT).astype(np.float64)
        lengths = np.diagonal(inner, axis1=-2, axis2=-1)
        distances = lengths[:, :, None] + lengths[:, None] - 2 * inner  # [G, n, n]
        dots.append(products.ravel())
        for name, factor in (("", 1.0), ("scaled_", width**-0.5)):
            weights = softmax(products * factor)
            collected[f"{name}jacobian"].append(jacobian_norm(weights).ravel())
            collected[f"{name}gradient"].append(factor * query_gradient_norm(weights, distances).ravel())
            collected[f"{name}largest"].append(weights.max(axis=-1).ravel())
    dot = np.concatenate(dots)
    variance = float(dot.var())
    fourth = float(np.square(np.square(dot - dot.mean())).mean())
    row = {
        "width": width,
        "pairs": len(dot),
        "variance": variance,
        "scaled_variance": variance / width,
        "excess": fourth / variance**2 - 3,
    }
    for name, parts in collected.items():
        values = np.concatenate(parts)
        row |= {f"{name}_mean": float(values.mean()), f"{name}_median": float(np.median(values))}
    return row


def _groups(
    width: int, *, keys: int, entries: Entries, seed: int
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Draw queries [G, Q, E] and keys [G, n, E], some groups at a time."""
    generator = np.random.default_rng([seed, width])
    groups = int(np.clip(_ENTRIES // (keys * width), *_GROUPS))
    queries = int(np.clip(_PAIRS // keys, *_ROWS)) // groups
    at_once = max(1, _AT_ONCE // ((keys + queries) * width))
    for start in range(0, groups, at_once):
        count = min(at_once, groups - start)
        q = _entries(generator, (count, queries, width), entries)
        yield q, _entries(generator, (count, keys, width), entries)


def _entries(generator: np.random.Generator, shape: tuple[int, ...], entries: Entries) -> NDArray[np.float32]:
    """Draw independent entries of mean 0 and variance 1: normal, or uniform from -sqrt(3) to sqrt(3)."""
    if entries == "normal":
        return generator.standard_normal(shape, dtype=np.float32)
    half = np.float32(sqrt(3))
    return (2 * generator.random(shape, dtype=np.float32) - 1) * half


# --- one key that stands out ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScaleExample:
    """One key whose dot product lies some deviations above 0, among n keys, before the scale and after it.

    keys: n. width: d_k. sigmas: how many standard deviations, sigma = sqrt(d_k), of which the scale leaves 1. score,
    scaled_score: the key's. weight, scaled_weight: its softmax weight with all other scores at 0,
    e^s / (e^s + n - 1). slope: p (1 - p) of that weight without the scale, and jacobian: the `jacobian_norm` of its
    row; uniform_slope, uniform_jacobian: both where all n weights are 1 / n.
    drawn_weight: its mean weight where the others are drawn from N(0, d_k), and drawn_largest: the mean largest weight
    of a row of n scores from N(0, d_k); scaled_drawn_weight, scaled_drawn_largest: the same after the scale.
    beyond: the probability that a normal dot product is as far from 0, on either side.
    """

    keys: int
    width: int
    sigmas: float
    score: float
    scaled_score: float
    weight: float
    scaled_weight: float
    slope: float
    jacobian: float
    uniform_slope: float
    uniform_jacobian: float
    drawn_weight: float
    drawn_largest: float
    scaled_drawn_weight: float
    scaled_drawn_largest: float
    beyond: float

    @property
    def sigma(self) -> float:
        """The standard deviation of q . k, sqrt(d_k)."""
        return sqrt(self.width)


def example(*, keys: int = 64, width: int = 64, sigmas: float = 1.0, seed: int = 0) -> ScaleExample:
    """Fill in the example of one key that stands out; see `ScaleExample`.

    Raises ValueError for fewer than 2 keys or more than MOST_KEYS, and for a width below 1.
    """
    if not 2 <= keys <= MOST_KEYS:
        raise ValueError(f"{keys} keys; they go from 2 to {MOST_KEYS}")
    if width < 1:
        raise ValueError(f"d_k is {width}; it is 1 or more")
    sigma, others = sqrt(width), keys - 1
    p, scaled = (weight(keys=keys, score=score) for score in (sigmas * sigma, sigmas))
    row = np.zeros(keys)
    row[0] = sigmas * sigma
    z = np.random.default_rng([seed, keys]).standard_normal((_rows(keys), keys))
    largest = [float(softmax(z * factor).max(axis=-1).mean()) for factor in (sigma, 1.0)]
    z[:, 0] = sigmas
    drawn = [float(softmax(z * factor)[:, 0].mean()) for factor in (sigma, 1.0)]
    return ScaleExample(
        keys=keys,
        width=width,
        sigmas=sigmas,
        score=sigmas * sigma,
        scaled_score=sigmas,
        weight=p,
        scaled_weight=scaled,
        slope=p * (1 - p),
        jacobian=float(jacobian_norm(softmax(row))),
        uniform_slope=others / keys**2,
        uniform_jacobian=sqrt(others) / keys,
        drawn_weight=drawn[0],
        drawn_largest=largest[0],
        scaled_drawn_weight=drawn[1],
        scaled_drawn_largest=largest[1],
        beyond=outside(sigmas),
    )


def weight(*, keys: int, score: float) -> float:
    """The softmax weight of one key whose score stands against keys - 1 others of score 0: e^s / (e^s + n - 1)."""
    return 1 / (1 + (keys - 1) * exp(-min(score, 700.0)))


def outside(sigmas: float) -> float:
    """The probability that a normal number is at least so many standard deviations from its mean, on either side."""
    return erfc(abs(sigmas) / sqrt(2))


def _rows(keys: int) -> int:
    return max(512, 2**18 // keys)
