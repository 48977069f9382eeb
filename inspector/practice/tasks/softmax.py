"""Task 1: the softmax of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inspector.practice.record.task import Case, Mistake, Task
from inspector.practice.tasks import recordings
from inspector.practice.tasks.stages import Array, ends, same, way
from inspector.questions.record.both import Both

_CUTS = (1, 5, 10, 20, 30, 50, 60, 80, 88, 100, 200, 500, 700)


def _row(s: Array) -> Array:
    return np.asarray(s.max(-1, keepdims=True))


def computed(
    scores: Array,
    *,
    before: Callable[[Array], Array] = same,
    shift: Callable[[Array], Array] = _row,
    power: Callable[[Array], Array] = np.exp,
    total: Callable[[Array], Array] = lambda p: p.sum(-1, keepdims=True),
    last: Callable[[Array], Array] = same,
    end: Callable[[Array], Array] = same,
) -> Array:
    """Return exp(s - max) over its sum, row by row."""
    scores = before(scores)
    p = power(scores - shift(scores))
    return end(last(p / total(p)))


def _none(s: Array) -> Any:
    return 0.0


def _softmax(s: Array, axis: Any = -1) -> Array:
    p = np.exp(s - s.max(axis, keepdims=True))
    return np.asarray(p / p.sum(axis, keepdims=True))


def _finite(s: Array, to: float) -> Array:
    return np.where(np.isneginf(s), to, s)


_AXES = {0: "each column", None: "the whole matrix"}

MISTAKES = (
    Mistake(
        "exp is taken of the scores as they are, which overflows: subtract the row's largest score first",
        (way(shift=_none),),
    ),
    Mistake(
        "the softmax runs over each column (axis 0), not over each row (axis −1)",
        (
            way(shift=lambda s: s.max(0, keepdims=True), total=lambda p: p.sum(0, keepdims=True)),
            way(shift=_none, total=lambda p: p.sum(0, keepdims=True)),
            way(before=lambda s: s, end=same, shift=lambda s: s.max(), total=lambda p: p.sum(0, keepdims=True)),
        ),
    ),
    Mistake(
        "the softmax runs over the whole matrix, not over each row",
        (
            way(shift=lambda s: s.max(), total=lambda p: p.sum()),
            way(shift=_row, total=lambda p: p.sum()),
            way(shift=_none, total=lambda p: p.sum()),
        ),
    ),
    Mistake(
        "the sum is that of each column, though the largest is that of each row",
        (way(total=lambda p: p.sum(0, keepdims=True)),),
    ),
    Mistake(
        "the largest of the whole matrix is subtracted, so that a row of small scores becomes 0/0",
        (way(shift=lambda s: s.max()),),
    ),
    Mistake(
        "the largest of each column is subtracted, not of each row", (way(shift=lambda s: s.max(0, keepdims=True)),)
    ),
    Mistake(
        "the smallest score is subtracted, not the largest, and exp overflows",
        (
            way(shift=lambda s: s.min(-1, keepdims=True)),
            way(shift=lambda s: s.min()),
        ),
    ),
    Mistake(
        "the mean is subtracted, not the largest",
        (
            way(shift=lambda s: s.mean(-1, keepdims=True)),
            way(shift=lambda s: s.mean()),
        ),
    ),
    Mistake(
        "the first score of the row is subtracted, not the largest",
        (way(shift=lambda s: s[:, :1]), way(shift=lambda s: s[:, -1:])),
        made_only=True,
    ),
    Mistake("the largest of the first row is subtracted from all rows", (way(shift=lambda s: s[0].max()),)),
    Mistake("all rows are divided by the sum of the first", (way(total=lambda p: p[:1].sum()),)),
    Mistake("the largest is added, not subtracted", (way(shift=lambda s: -_row(s)),)),
    Mistake("the absolute largest is subtracted", (way(shift=lambda s: np.abs(s).max(-1, keepdims=True)),)),
    Mistake(
        "the scores are divided by the largest, not reduced by it",
        (
            way(before=lambda s: s / _row(s), shift=_none),
            way(before=lambda s: s / _row(s)),
            way(before=lambda s: s / s.max(), shift=_none),
        ),
    ),
    Mistake(
        "keepdims is missing: maxima and sums are laid along the columns",
        (
            way(shift=lambda s: s.max(-1), total=lambda p: p.sum(-1)),
            way(total=lambda p: p.sum(-1)),
            way(shift=_none, total=lambda p: p.sum(-1)),
            way(shift=lambda s: s.max(-1)),
        ),
    ),
    Mistake("the exps are not divided by their sum", (way(total=lambda p: 1.0), way(shift=_none, total=lambda p: 1.0))),
    Mistake(
        "the exps are divided by their mean, not by their sum",
        (way(total=lambda p: p.mean(-1, keepdims=True)), way(shift=_none, total=lambda p: p.mean(-1, keepdims=True))),
    ),
    Mistake(
        "the exps are divided by the number of keys, not by their sum",
        (way(total=lambda p: p.shape[-1]), way(shift=_none, total=lambda p: p.shape[-1])),
    ),
    Mistake(
        "exp is taken of the sum of the scores, not the sum of their exps",
        (way(total=lambda p: p.prod(-1, keepdims=True)), way(shift=_none, total=lambda p: p.prod(-1, keepdims=True))),
    ),
    Mistake("the exps are divided by the largest of them", (way(total=lambda p: p.max(-1, keepdims=True)),)),
    Mistake(
        "the exps are divided by the root of their squares' sum",
        (
            way(total=lambda p: np.linalg.norm(p, axis=-1, keepdims=True)),
            way(shift=_none, total=lambda p: np.linalg.norm(p, axis=-1, keepdims=True)),
        ),
    ),
    Mistake(
        "1 is added to the sum of the exps",
        (
            way(total=lambda p: p.sum(-1, keepdims=True) + 1),
            way(shift=_none, total=lambda p: p.sum(-1, keepdims=True) + 1),
        ),
    ),
    Mistake(
        "a large constant is added to the sum of the exps",
        tuple(way(total=lambda p, c=c: p.sum(-1, keepdims=True) + c) for c in (1e-2, 0.1)),
    ),
    Mistake("each exp is divided by the sum of the others", (way(total=lambda p: p.sum(-1, keepdims=True) - p),)),
    Mistake("the sum runs up to each key (cumsum), not over the row", (way(total=lambda p: p.cumsum(-1)),)),
    Mistake(
        "the scores are divided by their sum, without exp",
        (
            way(shift=_none, power=same),
            way(power=same),
            way(before=lambda s: _finite(s, 0.0), shift=_none, power=same),
            way(shift=_none, power=same, total=lambda p: np.abs(p).sum(-1, keepdims=True)),
        ),
    ),
    Mistake(
        "a sigmoid is taken of each score",
        (way(shift=_none, power=lambda s: 1 / (1 + np.exp(-s)), total=lambda p: 1.0),),
    ),
    Mistake(
        "a sigmoid is taken in place of exp, over its sum",
        (way(shift=_none, power=lambda s: 1 / (1 + np.exp(-s))),),
    ),
    Mistake(
        "the logarithm of the softmax is returned",
        (way(last=np.log), way(shift=_none, last=np.log)),
    ),
    Mistake("the softmax is taken twice", (way(last=_softmax),)),
    Mistake(
        "2 or 10 is raised to the scores, not e",
        (
            way(power=np.exp2),
            way(power=lambda s: 10.0**s),
            way(shift=_none, power=np.exp2),
            way(shift=_none, power=lambda s: 10.0**s),
        ),
    ),
    Mistake("the exps are squared", (way(power=lambda s: np.exp(2 * s)), way(power=lambda s: np.exp(s**2)))),
    Mistake("exp − 1 is taken, not exp", (way(power=np.expm1), way(shift=_none, power=np.expm1))),
    Mistake("1 is added to exp", (way(power=lambda s: np.exp(s) + 1),)),
    Mistake("a ReLU is taken in place of exp", (way(shift=_none, power=lambda s: np.maximum(s, 0)),)),
    Mistake("exp is taken of the absolute scores", (way(before=np.abs),)),
    Mistake("the softmax is of the negative scores", (way(before=lambda s: -s), way(before=lambda s: -s, shift=_none))),
    Mistake(
        "only the largest score counts (argmax)",
        (way(end=lambda w: (w == w.max(-1, keepdims=True)).astype(w.dtype)),),
    ),
    Mistake(
        "the scores are cut to a range, so that large scores become equal",
        tuple(
            way(before=lambda s, low=low, c=c: np.clip(s, low if low is None else -c, c), shift=shift)
            for c in _CUTS
            for low in (0, None)
            for shift in (_row, _none)
        ),
    ),
    Mistake(
        "the scores are scaled before the softmax",
        (
            way(before=lambda s: s / np.sqrt(s.shape[-1])),
            way(before=lambda s: s / s.shape[-1]),
            way(before=lambda s: s / np.sqrt(s.shape[0])),
            way(before=lambda s: s / 10),
            way(before=lambda s: s / 100),
            way(before=lambda s: s / 1000),
        ),
    ),
    Mistake(
        "the scores are standardised before the softmax",
        (way(before=lambda s: (s - s.mean(-1, keepdims=True)) / s.std(-1, keepdims=True)),),
    ),
    Mistake(
        "a masked cell (−inf) is taken as a number and gets weight",
        (
            *(
                way(before=lambda s, to=to: _finite(s, to), shift=shift)
                for to in (0.0, 1.0, -1.0)
                for shift in (_row, _none)
            ),
            way(power=lambda s: np.exp(np.where(np.isneginf(s), 0.0, s))),
        ),
    ),
    Mistake(
        "−inf is multiplied or subtracted into NaN in rows with masked cells",
        (
            way(end=lambda w: np.where((w == 0).any(-1, keepdims=True), np.nan, w)),
            way(before=lambda s: np.where(np.isneginf(s), np.nan, s)),
        ),
    ),
    Mistake("the result is transposed: [T, Q]", (way(end=np.transpose),)),
    Mistake(
        "weights are rounded",
        tuple(way(end=lambda w, d=d: np.round(w, d)) for d in (0, 1, 2)),
    ),
    Mistake("only the first row is computed", (way(end=lambda w: w[0]), way(end=lambda w: w[:1]))),
    Mistake("the last column is left out of the sum", (way(total=lambda p: p[:, :-1].sum(-1, keepdims=True)),)),
    Mistake("the first column is left out of the sum", (way(total=lambda p: p[:, 1:].sum(-1, keepdims=True)),)),
    *ends("end", batch=False),
)


def made() -> tuple[Case, ...]:
    """Make scores: small, of different sizes, up to 1,000, masked."""
    inf = np.inf
    random = np.random.default_rng(1)
    mixed = random.normal(size=(4, 6)) * 2
    mixed[1] -= 3
    masked = random.normal(size=(3, 5)) * 2
    masked[0, 3:], masked[1, 0], masked[2, 2] = -inf, -inf, -inf
    large = np.array([[0, 1000, 998, -1000], [-1000, -1001, -1002, -999], [3, 1, 2, 0]])
    return (
        Case("a small matrix", (np.array([[0, 1, 2], [2, 2, 0]], np.float32),)),
        Case("scores of another shape", (mixed.astype(np.float32),)),
        Case("masked cells (−inf)", (masked.astype(np.float32),)),
        Case("scores of 1,000 and −1,000", (large.astype(np.float64),)),
        Case("a square matrix", (random.normal(size=(4, 4)).astype(np.float32),), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give the scores of a head of mini-gpt; 1,000 is added to every other row and taken from the rest.

    A softmax does not notice what is added to a whole row.
    """
    scores = np.array(recordings.trace("mini-gpt").scores(layer=recordings.LAYER, head=1), np.float32)
    shift = np.where(np.arange(len(scores)) % 2, 1000, -1000).astype(np.float32)
    return (Case("scores of a head of mini-gpt, 1,000 added or taken", ((scores + shift[:, None])[3:],)),)


TASK = Task(
    1,
    "softmax",
    "first steps",
    "softmax",
    ("scores",),
    title=Both("A softmax row", "一行 softmax"),
    asked=Both(
        "scores is a matrix [Q, T]: a row a query, a column a key. Return the weights [Q, T]: each row is positive and "
        "sums to 1. Scores reach 1,000, and a masked cell is −inf and gets weight 0.",
        "scores 是矩阵 [Q, T]：每行一个 query，每列一个 key。返回权重 [Q, T]：每行非负且和为 1。分数可达 1000，被遮"
        "住的格子是 −inf，权重为 0。",
    ),
    hints=(
        Both("weight = exp(score) / sum of exp(score) over the row.", "权重 = exp(分数) / 该行 exp(分数) 之和。"),
        Both(
            "The row 0, 1, 2 has exps 1, 2.72 and 7.39; their sum is 11.1, the weights 0.0900, 0.245 and 0.665. "
            "The row "
            "1000, 1001, 1002 has the same weights.",
            "一行 0、1、2 的 exp 为 1、2.72、7.39，和为 11.1，权重 0.0900、0.245、0.665。一行 1000、1001、1002 的权"
            "重相同。",
        ),
        Both(
            "exp(1000) is infinite, and inf / inf is NaN. A constant added to a whole row changes no weight: subtract "
            "the row's own largest score first. Sum along the keys (axis −1) and keep the axis.",
            "exp(1000) 是无穷，inf / inf 是 NaN。整行加一个常数不改变权重：先减去该行自己的最大分数。沿 key（轴 −1"
            "）求和，并保留该轴。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("weights",),
)
