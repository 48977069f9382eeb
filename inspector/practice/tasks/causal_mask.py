"""Task 3: attention with the causal mask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inspector.practice.record.task import Case, Mistake, Stages, Task
from inspector.practice.tasks import recordings
from inspector.practice.tasks.stages import (
    MIXES,
    SCALES,
    SCORES,
    WEIGHINGS,
    Array,
    Given,
    attend,
    by_root,
    ends,
    last_two,
    same,
    softmax,
    way,
)
from inspector.questions.record.both import Both

Masking = Callable[[Array, Given], Array]


def sees(shape: tuple[int, ...], diagonal: int = 0) -> Array:
    """Return [Q, T]: True where query i sees key j <= i + diagonal."""
    return np.tril(np.ones(shape[-2:], bool), diagonal)


def _fill(x: Array, seen: Array, fill: float) -> Array:
    return np.where(seen, x, np.asarray(fill, x.dtype))


def masked(scores: Array, given: Given) -> Array:
    """Return the scores with -inf where the key lies behind the query."""
    return _fill(scores, sees(scores.shape), -np.inf)


def computed(
    query: Array,
    key: Array,
    value: Array,
    *,
    mask: Masking = masked,
    end: Callable[[Array], Array] = same,
    **stages: Any,
) -> Array:
    """Return softmax(mask(q k^T / sqrt(E))) v."""
    return end(attend(Given(query, key, value), mask=mask, **stages))


def _filled(fill: float, seen: Callable[[tuple[int, ...]], Array] = sees) -> Masking:
    return lambda s, g: _fill(s, seen(s.shape), fill)


def _added(fill: float, seen: Callable[[tuple[int, ...]], Array] = sees) -> Masking:
    return lambda s, g: s + np.asarray(np.where(seen(s.shape), 0, fill), s.dtype)


def _patterns(seen: Callable[[tuple[int, ...]], Array]) -> tuple[Stages, ...]:
    """List the ways to use a wrong pattern: filled, added, or over the weights with and without a new sum."""

    def zeroed(w: Array, g: Given) -> Array:
        return w * seen(w.shape)

    def again(w: Array, g: Given) -> Array:
        kept = w * seen(w.shape)
        return np.asarray(kept / kept.sum(-1, keepdims=True))

    def again_safe(w: Array, g: Given) -> Array:
        kept = w * seen(w.shape)
        return np.asarray(kept / (kept.sum(-1, keepdims=True) + 1e-9))

    return (
        *(way(mask=_filled(fill, seen)) for fill in (-np.inf, -1e9)),
        way(mask=_added(-1e9, seen)),
        way(mask=_added(-1e4, seen)),
        way(mask=same, after=again),
        way(mask=same, after=again_safe),
        way(mask=_filled(-np.inf, seen), mix=lambda w, g: np.nan_to_num(w) @ g.value),
        way(mask=same, after=zeroed),
    )


def _rows(shape: tuple[int, ...]) -> Array:
    """Return [Q, T]: True in rows whose query comes in the first half."""
    return np.broadcast_to((np.arange(shape[-2]) * 2 < shape[-2])[:, None], shape[-2:])


def _first_keys(stop: int) -> Callable[[tuple[int, ...]], Array]:
    """Return a pattern in which every query sees the same keys, up to a place."""
    return lambda shape: np.broadcast_to(np.arange(shape[-1]) < stop % shape[-1], shape[-2:])


def _first_half(shape: tuple[int, ...]) -> Array:
    """Return [Q, T]: True for the keys of the first half."""
    return np.broadcast_to(np.arange(shape[-1]) < shape[-1] // 2, shape[-2:])


def _strict_but_first(shape: tuple[int, ...]) -> Array:
    """Return [Q, T]: True where query i sees key j < i, and the first query itself."""
    seen = sees(shape, -1)
    seen[0, 0] = True
    return seen


def _zeroed(w: Array, g: Given) -> Array:
    return w * sees(w.shape)


def _prefix(length: Callable[[int], int]) -> Callable[[tuple[int, ...]], Array]:
    return lambda shape: sees(shape) | (np.arange(shape[-1]) < length(shape[-1]))


MASKS = (
    Mistake("there is no mask: every query sees all keys", (way(mask=same),)),
    Mistake(
        "the mask is laid on the weights after the softmax, and the rows do not sum to 1",
        (way(mask=same, after=_zeroed),),
    ),
    Mistake(
        "the mask hides the query's own key too (the diagonal)",
        (*_patterns(lambda shape: sees(shape, -1)), *_patterns(_strict_but_first)),
    ),
    Mistake(
        "each query sees the next key too: the mask begins one place too late", _patterns(lambda shape: sees(shape, 1))
    ),
    Mistake("each query sees two keys ahead", _patterns(lambda shape: sees(shape, 2))),
    Mistake(
        "the mask is reversed: each query sees itself and what comes behind it",
        _patterns(lambda shape: last_two(sees(shape))),
    ),
    Mistake(
        "the mask is reversed: each query sees only what comes behind it",
        _patterns(lambda shape: ~sees(shape)),
    ),
    Mistake("each query sees only itself", _patterns(lambda shape: np.eye(shape[-2], shape[-1], dtype=bool))),
    Mistake(
        "each query sees all but itself",
        _patterns(lambda shape: ~np.eye(shape[-2], shape[-1], dtype=bool)),
    ),
    Mistake(
        "each query sees only itself and the key before it",
        _patterns(lambda shape: sees(shape) & ~sees(shape, -2)),
    ),
    Mistake("the first key is hidden as well", _patterns(lambda shape: sees(shape) & (np.arange(shape[-1]) > 0))),
    Mistake(
        "the mask hides whole rows of queries, not keys",
        (way(mask=_filled(-np.inf, _rows)), way(mask=same, after=lambda w, g: w * _rows(w.shape))),
    ),
    Mistake(
        "the mask is the same for all queries: the last keys are hidden from all",
        (*_patterns(_first_keys(-1)), *_patterns(_first_keys(1)), *_patterns(_first_half)),
    ),
    Mistake("the mask counts from the end of the keys", _patterns(lambda shape: sees(shape)[:, ::-1])),
    Mistake(
        "masked scores are set to 0, which still has weight: −inf is due",
        (
            *(way(mask=_filled(fill)) for fill in (0, 1e-9, -1e-9)),
            way(mask=same, scale=lambda s, g: by_root(s, g) * sees(s.shape)),
        ),
    ),
    Mistake(
        "masked scores are set to a number that is not far below the others",
        tuple(way(mask=_filled(fill)) for fill in (-1, -2, -5, -10, 1)),
    ),
    Mistake(
        "masked scores are set to a large positive number (+1e9, +inf)",
        (
            way(mask=_filled(1e9)),
            way(mask=_filled(np.inf)),
            way(mask=_added(1e9)),
            way(mask=_added(np.inf)),
            way(mask=_filled(1e4)),
        ),
    ),
    Mistake(
        "a mask of 0 and 1 is added to the scores",
        (
            way(mask=lambda s, g: s + sees(s.shape)),
            way(mask=lambda s, g: s + ~sees(s.shape)),
            way(mask=lambda s, g: s - ~sees(s.shape)),
            way(mask=lambda s, g: s - sees(s.shape)),
        ),
    ),
    Mistake(
        "a small number is added to masked scores, which keep weight",
        tuple(way(mask=_added(fill)) for fill in (-2, -5, -10)),
    ),
    Mistake(
        "masked scores are multiplied by a large number, not replaced by −inf",
        (
            way(mask=lambda s, g: np.where(sees(s.shape), s, s * np.asarray(-1e9, s.dtype))),
            way(mask=lambda s, g: np.where(sees(s.shape), s, s * np.asarray(1e9, s.dtype))),
            way(mask=lambda s, g: np.where(sees(s.shape), s, s * -np.inf)),
            way(mask=lambda s, g: np.where(sees(s.shape), s, -s)),
        ),
    ),
    Mistake(
        "0 times −inf makes NaN: the mask is multiplied by −inf",
        (
            way(mask=lambda s, g: s + ~sees(s.shape) * np.asarray(-np.inf, s.dtype)),
            way(mask=lambda s, g: s * sees(s.shape) + ~sees(s.shape) * np.asarray(-np.inf, s.dtype)),
            way(mask=lambda s, g: np.full_like(s, np.nan)),
        ),
    ),
    Mistake(
        "−inf is laid on the weights after the softmax",
        (
            way(mask=same, after=masked),
            way(mask=same, after=_filled(-1e9)),
            way(mask=same, after=_added(-np.inf)),
            way(mask=same, after=_added(-1e9)),
            way(mask=same, after=lambda w, g: softmax(masked(w, g))),
            way(mask=same, after=lambda w, g: softmax(w * sees(w.shape))),
        ),
    ),
    Mistake(
        "the rest of the weights is divided by the sum over the queries, not over the keys",
        (way(mask=same, after=lambda w, g: _zeroed(w, g) / _zeroed(w, g).sum(-2, keepdims=True)),),
    ),
    Mistake(
        "the weights are divided by how many keys a query sees",
        (
            way(mask=same, after=lambda w, g: _zeroed(w, g) / sees(w.shape).sum(-1, keepdims=True)),
            way(after=lambda w, g: w / sees(w.shape).sum(-1, keepdims=True)),
        ),
    ),
    Mistake(
        "each query takes the plain mean of the keys that it sees: the scores are not used",
        (way(weigh=lambda s, g: np.broadcast_to(sees(s.shape) / sees(s.shape).sum(-1, keepdims=True), s.shape)),),
    ),
    Mistake(
        "the mask is laid before the scale as a number that the scale makes small",
        tuple(way(scale=lambda s, g, f=f: by_root(_fill(s, sees(s.shape), f), g), mask=same) for f in (-1, -10)),
    ),
    Mistake(
        "the mask is laid on queries, keys or values, not on the scores",
        (
            way(
                mask=same,
                score=lambda g: (
                    g.query @ last_two(g.key * (np.arange(g.key.shape[-2]) < g.key.shape[-2] // 2)[:, None])
                ),
            ),
            way(mask=same, mix=lambda w, g: np.tril(w @ g.value)),
            way(mask=same, mix=lambda w, g: w @ np.tril(g.value)),
            way(mask=same, score=lambda g: g.query @ last_two(np.tril(g.key))),
            way(mask=same, score=lambda g: np.tril(g.query) @ last_two(g.key)),
            way(mask=same, score=lambda g: np.tril(g.query) @ last_two(np.tril(g.key))),
            way(
                mask=same,
                score=lambda g: np.tril(g.query) @ last_two(np.tril(g.key)),
                mix=lambda w, g: w @ np.tril(g.value),
            ),
        ),
    ),
    Mistake(
        "only the first text of the batch is masked",
        (
            way(mask=lambda s, g: np.concatenate([masked(s[:1], g), s[1:]])),
            way(mask=lambda s, g: np.concatenate([s[:-1], masked(s[-1:], g)])),
        ),
    ),
)

MISTAKES = (*MASKS, *SCORES, *SCALES, *WEIGHINGS, *MIXES, *ends("end"))


def made() -> tuple[Case, ...]:
    """Make queries, keys and values; in the last case the key that most queries must not see has the largest scores."""
    random = np.random.default_rng(3)

    def some(*shape: int) -> Array:
        return random.normal(size=shape).astype(np.float32)

    whole = tuple(random.integers(-2, 3, size=(2, 3, 2)).astype(np.float32) for _ in range(3))
    query = np.abs(some(2, 5, 4)) + np.float32(0.5)
    key = some(2, 5, 4)
    key -= 2
    key[:, -1] = 2
    return (
        Case("small whole numbers", whole),
        Case("6 tokens of width 4", (some(2, 6, 4), some(2, 6, 4), some(2, 6, 4))),
        Case("a masked key that is the largest", (query, key, some(2, 5, 4))),
        Case("equal lengths", (some(3, 3, 3), some(3, 3, 3), some(3, 3, 3)), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give two heads of mini-gpt."""
    return (Case("two heads of mini-gpt", recordings.heads("mini-gpt")),)


TASK = Task(
    3,
    "causal-mask",
    "first steps",
    "causal_attention",
    ("query", "key", "value"),
    title=Both("The causal mask", "因果掩码"),
    asked=Both(
        "query, key and value are [B, n, E] each. Return the output [B, n, E] of attention in which query i sees the "
        "keys 0 to i and no later one.",
        "query、key、value 均为 [B, n, E]。返回注意力输出 [B, n, E]，其中第 i 个 query 只能看到第 0 到 i 个 key。",
    ),
    hints=(
        Both(
            "output = softmax(q kᵀ / √E + M) v, with M = 0 where key ≤ query and −∞ elsewhere.",
            "输出 = softmax(q kᵀ / √E + M) v；key ≤ query 处 M = 0，其余处为 −∞。",
        ),
        Both(
            "The first query sees one key, so its weight is 1 and the first output is the first value, whatever "
            "the scores are.",
            "第一个 query 只看到一个 key，权重为 1，因此无论分数是多少，第一个输出就是第一个 value。",
        ),
        Both(
            "A score of 0 is no mask: exp(0) = 1 has weight. Weights that are zeroed after the softmax no longer "
            "sum to 1. "
            "The diagonal stays: a token sees itself.",
            "分数 0 不是掩码：exp(0) = 1 仍有权重。softmax 之后再置零的权重之和不再是 1。对角线要保留：token 能看到"
            "自己。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("output",),
)
