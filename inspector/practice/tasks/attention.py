"""Task 2: scaled dot-product attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inspector.practice.record.task import Case, Mistake, Task
from inspector.practice.tasks import recordings
from inspector.practice.tasks.stages import (
    MIXES,
    SCALES,
    SCORES,
    VALUES_WIDTH,
    WEIGHINGS,
    Array,
    Given,
    attend,
    ends,
    left_out,
    same,
    way,
)
from inspector.questions.record.both import Both


def computed(query: Array, key: Array, value: Array, *, end: Callable[[Array], Array] = same, **stages: Any) -> Array:
    """Return softmax(q k^T / sqrt(E)) v."""
    return end(attend(Given(query, key, value), **stages))


def _causal(scores: Array, given: Given) -> Array:
    return np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)


MISTAKES = (
    *SCORES,
    *SCALES,
    VALUES_WIDTH,
    *WEIGHINGS,
    *MIXES,
    Mistake("a causal mask hides keys, which is not asked for", (way(mask=_causal),)),
    Mistake(
        "the last key is left out",
        (
            way(mask=lambda s, g: left_out(s, axis=-1, at=-1)),
            way(after=lambda w, g: left_out(w, axis=-1, at=-1)),
        ),
    ),
    Mistake("the first key is left out", (way(after=lambda w, g: left_out(w, axis=-1, at=0)),)),
    *ends("end"),
)


def made() -> tuple[Case, ...]:
    """Make queries, keys and values: of small whole numbers, of lengths that differ, with scores of 1,000."""
    random = np.random.default_rng(2)

    def some(*shape: int) -> Array:
        return random.normal(size=shape).astype(np.float32)

    whole = tuple(random.integers(-2, 3, size=shape).astype(np.float32) for shape in ((2, 2, 4), (2, 3, 4), (2, 3, 2)))
    large = tuple(random.integers(-3, 4, size=shape).astype(np.float64) for shape in ((2, 3, 4), (2, 5, 4)))
    return (
        Case("small whole numbers", whole),
        Case("lengths that differ: 3 queries, 5 keys, widths 8 and 6", (some(2, 3, 8), some(2, 5, 8), some(2, 5, 6))),
        Case("scores of 1,000", (30 * large[0], large[1] * 10, some(2, 5, 7).astype(np.float64))),
        Case("equal lengths", (some(3, 3, 3), some(3, 3, 3), some(3, 3, 3)), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give two heads of mini-bert: nine queries, all keys, three quarters of the values' width."""
    query, key, value = recordings.heads("mini-bert")
    return (Case("two heads of mini-bert", (query[:, :9], key, value[..., :24])),)


TASK = Task(
    2,
    "attention",
    "first steps",
    "attention",
    ("query", "key", "value"),
    title=Both("Scaled dot-product attention", "缩放点积注意力"),
    asked=Both(
        "query [B, Q, E], key [B, T, E] and value [B, T, F] are given. Return the output [B, Q, F]: for each query the "
        "mean of the values, weighted by the softmax of its scores with all keys.",
        "给定 query [B, Q, E]、key [B, T, E]、value [B, T, F]。返回输出 [B, Q, F]：对每个 query，按它与所有 key 的"
        "分数做 softmax，再对 value 加权平均。",
    ),
    hints=(
        Both(
            "output = softmax(q kᵀ / √E) v (Vaswani et al. 2017).",
            "输出 = softmax(q kᵀ / √E) v（Vaswani 等人，2017）。",
        ),
        Both(
            "One query 1, 0 and the keys 1, 0 and 0, 1: the scores are 1/√2 = 0.707 and 0, the weights 0.670 and "
            "0.330. "
            "With the values 10 and 0 the output is 6.70.",
            "一个 query (1, 0)，两个 key (1, 0) 与 (0, 1)：分数为 1/√2 = 0.707 与 0，权重 0.670 与 0.330。value 为"
            " 10 和 0 时输出 6.70。",
        ),
        Both(
            "Q, T, E and F all differ here. Exchange the last two axes of the keys alone, divide by the root of the "
            "queries' width, and let the softmax run over the keys, the last axis.",
            "这里 Q、T、E、F 各不相同。只交换 key 的最后两个轴，除以 query 宽度的平方根，softmax 沿 key（最后一轴）。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("output",),
)
