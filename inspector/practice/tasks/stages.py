"""The stages of attention that several tasks share, and how people get each of them wrong.

Shapes: [..., Q, E] queries, [..., T, E] keys, [..., T, F] values; scores and weights are [..., Q, T].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.practice.record.task import Mistake

Array = NDArray[Any]


@dataclass(frozen=True)
class Given:
    """Query, key and value of attention; heads: how many there are, where each is a part of the width."""

    query: Array
    key: Array
    value: Array
    heads: int = 1


def same(x: Array, *_: Given) -> Array:
    """Return x."""
    return x


def last_two(x: Array) -> Array:
    """Return x with its last two axes exchanged."""
    return np.swapaxes(x, -1, -2)


def products(given: Given) -> Array:
    """Return q k^T, [..., Q, T]."""
    return np.asarray(given.query @ last_two(given.key))


def by_root(scores: Array, given: Given) -> Array:
    """Return the scores over sqrt(E)."""
    return np.asarray(scores / np.sqrt(given.query.shape[-1]))


def softmax(scores: Array, given: Given | None = None, axis: int | tuple[int, ...] | None = -1) -> Array:
    """Return exp over its sum along an axis, the largest subtracted before."""
    power = np.exp(scores - scores.max(axis, keepdims=True))
    return np.asarray(power / power.sum(axis, keepdims=True))


def naive(scores: Array, given: Given | None = None, axis: int | tuple[int, ...] | None = -1) -> Array:
    """Return exp over its sum along an axis, which overflows."""
    power = np.exp(scores)
    return np.asarray(power / power.sum(axis, keepdims=True))


def mixed(weights: Array, given: Given) -> Array:
    """Return the weights' means of the values, [..., Q, F]."""
    return np.asarray(weights @ given.value)


def attend(
    given: Given,
    *,
    score: Callable[[Given], Array] = products,
    scale: Callable[[Array, Given], Array] = by_root,
    mask: Callable[[Array, Given], Array] = same,
    weigh: Callable[[Array, Given], Array] = softmax,
    after: Callable[[Array, Given], Array] = same,
    mix: Callable[[Array, Given], Array] = mixed,
) -> Array:
    """Return softmax(q k^T / sqrt(E)) v, [..., Q, F]; mask works on the scores, after on the weights."""
    scores = mask(scale(score(given), given), given)
    return mix(after(weigh(scores, given), given), given)


def way(**stages: Any) -> Mapping[str, Any]:
    """Name the stages of a mistake."""
    return stages


def unit(x: Array) -> Array:
    """Return each row over its length."""
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def reshaped(given: Given) -> Array:
    """Return q times the keys in another shape, where a transpose is due."""
    *batch, tokens, width = given.key.shape
    return given.query @ given.key.reshape(*batch, width, tokens)


SCORES = (
    Mistake(
        "the keys are not transposed: q k in place of q kᵀ",
        (way(score=lambda g: g.query @ g.key), way(score=lambda g: g.query @ g.key.T)),
    ),
    Mistake("the keys are reshaped (view) where they should be transposed", (way(score=reshaped),)),
    Mistake(
        "the scores are k qᵀ, a row a key, in place of q kᵀ",
        (way(score=lambda g: g.key @ last_two(g.query)),),
    ),
    Mistake(
        "the scores are cosines: queries and keys are divided by their lengths",
        (
            way(score=lambda g: unit(g.query) @ last_two(unit(g.key))),
            way(score=lambda g: unit(g.query) @ last_two(unit(g.key)), scale=same),
        ),
    ),
    Mistake(
        "the scores are distances in place of products",
        tuple(
            way(
                score=lambda g, p=p, s=s: (
                    s * np.linalg.norm(g.query[..., :, None, :] - g.key[..., None, :, :], axis=-1) ** p
                )
            )
            for p in (1, 2)
            for s in (-1, 1)
        ),
    ),
    Mistake("the scores are q qᵀ: the keys are not used", (way(score=lambda g: g.query @ last_two(g.query)),)),
    Mistake("the scores are k kᵀ: the queries are not used", (way(score=lambda g: g.key @ last_two(g.key)),)),
    Mistake(
        "the scores are q vᵀ: the values are taken for the keys", (way(score=lambda g: g.query @ last_two(g.value)),)
    ),
    Mistake("the sign of the scores is wrong", (way(score=lambda g: -products(g)),)),
    Mistake("the absolute scores are taken", (way(score=lambda g: np.abs(products(g))),)),
    Mistake(
        "every text of the batch reads the keys of the first",
        (way(score=lambda g: g.query @ last_two(g.key[:1])),),
    ),
    Mistake(
        "every text meets all texts of the batch (np.dot, which is no matmul)",
        (
            way(score=lambda g: np.dot(g.query, last_two(g.key)), mix=lambda w, g: np.dot(w, g.value)),
            way(mix=lambda w, g: np.dot(w, g.value)),
            way(score=lambda g: np.dot(g.query, last_two(g.key)), mix=lambda w, g: w @ g.value),
        ),
    ),
    Mistake(
        "the scores are summed over the texts of the batch",
        (
            way(score=lambda g: np.broadcast_to(products(g).sum(0, keepdims=True), products(g).shape)),
            way(score=lambda g: g.query @ last_two(g.key.sum(0, keepdims=True))),
        ),
    ),
)


def _scaled(factor: Callable[[Given], float]) -> Mapping[str, Any]:
    return way(scale=lambda s, g: s * factor(g))


SCALES = (
    Mistake("the scores are not scaled: / √E is missing", (way(scale=same),)),
    Mistake("the scores are divided by E, not by √E", (_scaled(lambda g: 1 / g.query.shape[-1]),)),
    Mistake("the scores are multiplied by √E, not divided", (_scaled(lambda g: g.query.shape[-1] ** 0.5),)),
    Mistake("the scores are multiplied by E, not divided by √E", (_scaled(lambda g: g.query.shape[-1]),)),
    Mistake(
        "the scores are divided by √T, the root of the number of keys, not of the width E",
        (_scaled(lambda g: g.key.shape[-2] ** -0.5),),
    ),
    Mistake("the scores are divided by the number of keys, not by √E", (_scaled(lambda g: 1 / g.key.shape[-2]),)),
    Mistake(
        "the scores are divided by the root of the number of queries, not of the width E",
        (_scaled(lambda g: g.query.shape[-2] ** -0.5),),
    ),
    Mistake("the scores are divided by the number of queries, not by √E", (_scaled(lambda g: 1 / g.query.shape[-2]),)),
    Mistake(
        "the scores are divided by the root of the batch's size",
        (_scaled(lambda g: g.query.shape[0] ** -0.5), _scaled(lambda g: 1 / g.query.shape[0])),
    ),
    Mistake("the scores are divided by the fourth root of E", (_scaled(lambda g: g.query.shape[-1] ** -0.25),)),
    Mistake("the scores are divided by E², not by √E", (_scaled(lambda g: g.query.shape[-1] ** -2.0),)),
    Mistake("the scores are divided by √(2E)", (_scaled(lambda g: (2 * g.query.shape[-1]) ** -0.5),)),
    Mistake("the scores are divided by E/2", (_scaled(lambda g: 2 / g.query.shape[-1]),)),
    Mistake(
        "the scores are divided by the root of the number of all entries",
        (_scaled(lambda g: g.query.size**-0.5), _scaled(lambda g: g.query.ndim**-0.5)),
    ),
    Mistake(
        "√E divides the weights after the softmax, not the scores before it",
        (way(scale=same, after=by_root), way(scale=same, mix=lambda w, g: by_root(mixed(w, g), g))),
    ),
    Mistake(
        "√E divides twice: the scores before the softmax and the weights after it",
        (way(after=by_root), way(mix=lambda w, g: by_root(mixed(w, g), g))),
    ),
    Mistake(
        "√E multiplies the output",
        (way(mix=lambda w, g: mixed(w, g) * g.query.shape[-1] ** 0.5),),
    ),
)

VALUES_WIDTH = Mistake(
    "the scores are divided by √F, of the values' width", (_scaled(lambda g: g.value.shape[-1] ** -0.5),)
)

WEIGHINGS = (
    Mistake(
        "the softmax runs over the queries (axis −2), not over the keys (axis −1)",
        (way(weigh=lambda s, g: softmax(s, g, -2)), way(weigh=lambda s, g: naive(s, g, -2))),
    ),
    Mistake(
        "the softmax runs over the batch (axis 0), not over the keys",
        (way(weigh=lambda s, g: softmax(s, g, 0)), way(weigh=lambda s, g: naive(s, g, 0))),
    ),
    Mistake(
        "the softmax runs over the whole matrix, not over each row",
        (
            way(weigh=lambda s, g: softmax(s, g, (-2, -1))),
            way(weigh=lambda s, g: softmax(s, g, None)),
            way(weigh=lambda s, g: naive(s, g, (-2, -1))),
            way(weigh=lambda s, g: naive(s, g, None)),
        ),
    ),
    Mistake(
        "the largest is subtracted by row and the sum runs over the queries",
        (
            way(
                weigh=lambda s, g: (
                    np.exp(s - s.max(-1, keepdims=True)) / np.exp(s - s.max(-1, keepdims=True)).sum(-2, keepdims=True)
                )
            ),
        ),
    ),
    Mistake("there is no softmax: the scores themselves are the weights", (way(weigh=same),)),
    Mistake(
        "exp is taken and not divided by its sum",
        (way(weigh=lambda s, g: np.exp(s)), way(weigh=lambda s, g: np.exp(s - s.max(-1, keepdims=True)))),
    ),
    Mistake(
        "the scores are divided by their sum, without exp", (way(weigh=lambda s, g: s / s.sum(-1, keepdims=True)),)
    ),
    Mistake("a sigmoid stands in the softmax's place", (way(weigh=lambda s, g: 1 / (1 + np.exp(-s))),)),
    Mistake("a ReLU stands in the softmax's place", (way(weigh=lambda s, g: np.maximum(s, 0)),)),
    Mistake("the softmax is taken twice", (way(weigh=lambda s, g: softmax(softmax(s))),)),
    Mistake("the logarithm of the softmax is taken", (way(weigh=lambda s, g: np.log(softmax(s))),)),
    Mistake(
        "only the largest score counts (argmax in place of softmax)",
        (way(weigh=lambda s, g: (s == s.max(-1, keepdims=True)).astype(s.dtype)),),
    ),
    Mistake("the softmax is of the negative scores", (way(weigh=lambda s, g: softmax(-s)),)),
    Mistake("2 is raised to the scores, not e", (way(weigh=lambda s, g: softmax(s * np.log(2))),)),
    Mistake(
        "exp is divided by its mean, not by its sum",
        (way(weigh=lambda s, g: softmax(s) * s.shape[-1]),),
    ),
    Mistake(
        "exp overflows for large scores: subtract the row's largest score first",
        (way(weigh=naive),),
        remark=True,
    ),
)

MIXES = (
    Mistake(
        "the weights are transposed before they meet the values",
        (way(mix=lambda w, g: last_two(w) @ g.value),),
    ),
    Mistake("the weights mix the keys, not the values", (way(mix=lambda w, g: w @ g.key),)),
    Mistake("the weights mix the queries, not the values", (way(mix=lambda w, g: w @ g.query),)),
    Mistake("the query is added to the output", (way(mix=lambda w, g: mixed(w, g) + g.query),)),
    Mistake("the value is added to the output", (way(mix=lambda w, g: mixed(w, g) + g.value),)),
    Mistake("the weights are returned: they are not multiplied with the values", (way(mix=lambda w, g: w),)),
    Mistake("the output is divided by the number of keys", (way(mix=lambda w, g: mixed(w, g) / g.key.shape[-2]),)),
    Mistake(
        "the scores are returned: softmax and values are missing",
        (way(weigh=same, mix=lambda w, g: w),),
    ),
    Mistake("every text of the batch reads the values of the first", (way(mix=lambda w, g: w @ g.value[:1]),)),
    Mistake(
        "the output is transposed",
        (way(mix=lambda w, g: last_two(mixed(w, g))),),
    ),
    Mistake(
        "the values are summed over the batch",
        (way(mix=lambda w, g: w @ g.value.sum(0, keepdims=True)),),
    ),
    Mistake(
        "the values are reshaped before they are mixed",
        (way(mix=lambda w, g: w @ last_two(g.value).reshape(g.value.shape)),),
    ),
    Mistake(
        "the outputs of the queries are summed or averaged",
        (
            way(mix=lambda w, g: mixed(w, g).sum(-2)),
            way(mix=lambda w, g: mixed(w, g).mean(-2)),
            way(mix=lambda w, g: mixed(w, g).sum(-2, keepdims=True)),
            way(mix=lambda w, g: mixed(w, g).mean(-2, keepdims=True)),
        ),
    ),
)


def left_out(x: Array, *, axis: int, at: int) -> Array:
    """Return x with zeros at a place of an axis."""
    x = np.array(x)
    np.moveaxis(x, axis, 0)[at] = 0
    return x


def ends(stage: str, *, axis: int = -2, batch: bool = True) -> tuple[Mistake, ...]:
    """List the mistakes of loops that any computation may have. stage: takes the result and gives another."""
    rows = (
        Mistake(
            "the last row is never computed: a loop ends too early", ({stage: lambda x: left_out(x, axis=axis, at=-1)},)
        ),
        Mistake(
            "the first row is never computed: a loop begins too late",
            ({stage: lambda x: left_out(x, axis=axis, at=0)},),
        ),
        Mistake("the result has the wrong sign", ({stage: lambda x: -x},)),
    )
    if not batch:
        return rows
    return (
        *rows,
        Mistake(
            "only the first text of the batch is computed",
            (
                {stage: lambda x: x[0]},
                {stage: lambda x: x[:1]},
                {stage: lambda x: np.broadcast_to(x[:1], x.shape)},
                {stage: lambda x: np.concatenate([x[:1], np.zeros_like(x[1:])])},
            ),
        ),
        Mistake(
            "the texts of the batch are summed or averaged",
            (
                {stage: lambda x: x.sum(0)},
                {stage: lambda x: x.mean(0)},
                {stage: lambda x: np.broadcast_to(x.mean(0, keepdims=True), x.shape)},
                {stage: lambda x: np.broadcast_to(x.sum(0, keepdims=True), x.shape)},
            ),
        ),
    )
