"""Task 8: a step of a decoder with a KV cache."""

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
    WEIGHINGS,
    Array,
    Given,
    attend,
    by_root,
    last_two,
    same,
    way,
)
from inspector.questions.record.both import Both

Join = Callable[[Array, Array], Array]
Answer = tuple[Array, Array, Array]


def joined(cache: Array, new: Array) -> Array:
    """Return the cache with the new token behind it, [B, t+1, E]."""
    return np.concatenate([cache, new], axis=1)


def computed(
    query: Array,
    key: Array,
    value: Array,
    keys: Array,
    values: Array,
    *,
    join: Join = joined,
    join_keys: Join | None = None,
    join_values: Join | None = None,
    read_keys: Join | None = None,
    read_values: Join | None = None,
    left: Callable[[Array, Array, Array, Array], tuple[Array, Array]] | None = None,
    new_key: Callable[[Array, Array, Array], Array] = lambda q, k, v: k,
    new_value: Callable[[Array, Array, Array], Array] = lambda q, k, v: v,
    asking: Callable[[Array, Array], Array] = lambda query, all_keys: query,
    out: Callable[[Array], Array] = same,
    end: Callable[[Answer], Any] = lambda answer: answer,
    **stages: Any,
) -> Any:
    """Return the output, and the cache with the new key and value.

    read_keys, read_values: what attention reads, where it is not what is kept. left: the cache that is returned.
    """
    key, value = new_key(query, key, value), new_value(query, key, value)
    all_keys, all_values = (join_keys or join)(keys, key), (join_values or join)(values, value)
    seen_keys = all_keys if read_keys is None else read_keys(keys, key)
    seen_values = all_values if read_values is None else read_values(values, value)
    output = out(attend(Given(asking(query, seen_keys), seen_keys, seen_values), **stages))
    if left is not None:
        all_keys, all_values = left(keys, values, all_keys, all_values)
    return end((output, all_keys, all_values))


def _cache(cache: Array, new: Array) -> Array:
    return cache


def _new(cache: Array, new: Array) -> Array:
    return new


def _before(cache: Array, new: Array) -> Array:
    return np.concatenate([new, cache], axis=1)


def _over_last(cache: Array, new: Array) -> Array:
    return np.concatenate([cache[:, :-1], new], axis=1)


def _over_first(cache: Array, new: Array) -> Array:
    return np.concatenate([new, cache[:, 1:]], axis=1)


def _window(cache: Array, new: Array) -> Array:
    return np.concatenate([cache[:, 1:], new], axis=1)


def _first_only(s: Array, g: Given) -> Array:
    return np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)


_NOT_OF_ONE_QUERY = ("mix the keys", "weights are transposed", "mix the queries", "of the queries are summed")

MISTAKES = (
    Mistake(
        "the new token does not see its own key: only the old cache is read",
        (way(read_keys=_cache, read_values=_cache),),
    ),
    Mistake("the new token sees only itself: the cache is not read", (way(read_keys=_new, read_values=_new),)),
    Mistake(
        "the old cache is returned: new key and value are not kept",
        (way(left=lambda keys, values, k, v: (keys, values)),),
    ),
    Mistake(
        "the cache is neither read with the new token nor returned with it",
        (way(join=_cache),),
    ),
    Mistake(
        "only the new key and value are returned, not the whole cache",
        (
            way(left=lambda keys, values, k, v: (k[:, -1:], v[:, -1:])),
            way(join=_new),
        ),
    ),
    Mistake(
        "the new token stands before the cache, not behind it",
        (
            way(join=_before),
            way(left=lambda keys, values, k, v: (np.roll(k, 1, 1), np.roll(v, 1, 1))),
            way(join_keys=_before),
            way(join_values=_before),
        ),
    ),
    Mistake(
        "the new token overwrites the last of the cache",
        (
            way(join=_over_last),
            way(left=lambda keys, values, k, v: (_over_last(keys, k[:, -1:]), _over_last(values, v[:, -1:]))),
        ),
    ),
    Mistake("the new token overwrites the first of the cache", (way(join=_over_first),)),
    Mistake(
        "the oldest token falls out of the cache (a window)",
        (
            way(join=_window),
            way(left=lambda keys, values, k, v: (k[:, 1:], v[:, 1:])),
            way(read_keys=_window, read_values=_window),
        ),
    ),
    Mistake(
        "the new token is kept twice",
        (
            way(join=lambda c, n: np.concatenate([c, n, n], axis=1)),
            way(left=lambda keys, values, k, v: (joined(k, k[:, -1:]), joined(v, v[:, -1:]))),
        ),
    ),
    Mistake(
        "the new key or value is added to the last of the cache",
        (
            way(join=lambda c, n: np.concatenate([c[:, :-1], c[:, -1:] + n], axis=1)),
            way(join=lambda c, n: c + n),
        ),
    ),
    Mistake(
        "the query is kept as the key",
        (way(new_key=lambda q, k, v: q),),
    ),
    Mistake("the key is kept as the value", (way(new_value=lambda q, k, v: k),)),
    Mistake("the value is kept as the key", (way(new_key=lambda q, k, v: v),)),
    Mistake(
        "new key and new value are exchanged",
        (way(join_keys=lambda c, n: joined(c, n), new_key=lambda q, k, v: v, new_value=lambda q, k, v: k),),
    ),
    Mistake(
        "keys and values of the cache are exchanged",
        (
            way(end=lambda a: (a[0], a[2], a[1])),
            way(left=lambda keys, values, k, v: (v, k)),
        ),
    ),
    Mistake("the keys are read as values", (way(mix=lambda w, g: w @ g.key),)),
    Mistake(
        "only the key is kept, not the value",
        (
            way(left=lambda keys, values, k, v: (k, values)),
            way(join_values=_cache, read_values=joined),
            way(join_values=_cache, after=lambda w, g: w[..., :-1]),
        ),
    ),
    Mistake(
        "the keys are kept with the scale in them: divided by √E",
        (
            way(left=lambda keys, values, k, v: (by_root(k, Given(k, k, v)), v)),
            way(left=lambda keys, values, k, v: (joined(keys, by_root(k[:, -1:], Given(k, k, v))), v)),
        ),
    ),
    Mistake("only the value is kept, not the key", (way(left=lambda keys, values, k, v: (keys, v)),)),
    Mistake(
        "a causal mask of [1, t+1] hides all keys but the first: the newest query sees everything",
        (
            way(mask=_first_only),
            way(mask=lambda s, g: np.where(np.tril(np.ones(s.shape[-2:], bool)), s, np.asarray(-1e9, s.dtype))),
        ),
    ),
    Mistake(
        "a causal mask hides the newest key",
        (way(mask=lambda s, g: np.where(np.arange(s.shape[-1]) < s.shape[-1] - 1, s, -np.inf)),),
    ),
    Mistake(
        "outputs are computed for all tokens, not for the new one",
        (
            way(asking=lambda q, k: k),
            way(asking=lambda q, k: np.broadcast_to(q, (q.shape[0], k.shape[1], q.shape[2]))),
        ),
    ),
    Mistake("the output lost its axis of tokens: [B, 1, E] is due", (way(out=lambda o: o[:, 0]),)),
    Mistake(
        "the output stands last in the tuple: output, keys, values is due",
        (
            way(end=lambda a: (a[1], a[2], a[0])),
            way(end=lambda a: (a[1], a[0], a[2])),
        ),
    ),
    Mistake("only the output is returned, not the cache", (way(end=lambda a: a[0]),)),
    Mistake("output and one tensor are returned", (way(end=lambda a: a[:2]), way(end=lambda a: a[1:]))),
    Mistake(
        "the cache is filled with zeros or averages",
        (
            way(
                left=lambda keys, values, k, v: (
                    np.concatenate([keys, np.zeros_like(k[:, -1:])], 1),
                    np.concatenate([values, np.zeros_like(v[:, -1:])], 1),
                )
            ),
        ),
    ),
    Mistake(
        "the cache is returned transposed",
        (way(end=lambda a: (a[0], last_two(a[1]), last_two(a[2]))), way(end=lambda a: (a[0], last_two(a[1]), a[2]))),
    ),
    Mistake(
        "the new token of the first text is kept in all of the batch",
        (way(join=lambda c, n: joined(c, np.broadcast_to(n[:1], n.shape))),),
    ),
    *(mistake for mistake in SCORES if "qᵀ" not in mistake.said.partition("in place")[0]),
    *(mistake for mistake in SCALES if "number of queries" not in mistake.said),
    *(mistake for mistake in WEIGHINGS if "whole matrix" not in mistake.said),
    *(mistake for mistake in MIXES if not any(part in mistake.said for part in _NOT_OF_ONE_QUERY)),
)


def made() -> tuple[Case, ...]:
    """Make a new token and caches of 2 and 5 tokens."""
    random = np.random.default_rng(8)

    def some(*shape: int) -> Array:
        return random.normal(size=shape).astype(np.float32)

    def tokens(batch: int, old: int, width: int, make: Callable[..., Array]) -> tuple[Array, ...]:
        return (*(make(batch, 1, width) for _ in range(3)), *(make(batch, old, width) for _ in range(2)))

    def whole(*shape: int) -> Array:
        return random.integers(-2, 3, size=shape).astype(np.float32)

    return (
        Case("small whole numbers, 2 tokens in the cache", tokens(2, 2, 4, whole)),
        Case("5 tokens of width 6 in the cache", tokens(2, 5, 6, some)),
        Case("one token in the cache", tokens(3, 1, 5, some)),
        Case("equal lengths", tokens(4, 4, 4, some), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give a token of two heads of mini-gpt that looks at itself too, and all before it as the cache."""
    query, key, value = recordings.heads("mini-gpt")
    new, old = slice(5, 6), slice(0, 5)
    case = (query[:, new], key[:, new], value[:, new], key[:, old], value[:, old])
    return (Case("the sixth token of two heads of mini-gpt", case),)


TASK = Task(
    8,
    "kv-cache",
    "writing",
    "step",
    ("query", "key", "value", "keys", "values"),
    title=Both("A step with a KV cache", "带 KV 缓存的一步"),
    asked=Both(
        "query, key and value [B, 1, E] are those of a new token; keys and values [B, t, E] are the cache. Return "
        "a tuple: the "
        "output of the new token [B, 1, E], and keys and values [B, t+1, E] with the new token at the end. The "
        "cache that was "
        "given must not be changed.",
        "query、key、value [B, 1, E] 属于新 token；keys、values [B, t, E] 是缓存。返回元组：新 token 的输出"
        " [B, 1, E]，以及末尾加上新 token 的 keys、values [B, t+1, E]。不得改动传入的缓存。",
    ),
    hints=(
        Both(
            "keys' = [keys; key], values' = [values; value], output = softmax(query keys'ᵀ / √E) values'.",
            "keys' = [keys; key]，values' = [values; value]，输出 = softmax(query keys'ᵀ / √E) values'。",
        ),
        Both(
            "With one token in the cache there are two scores. They equal the last row of causal attention over "
            "both tokens.",
            "缓存里有一个 token 时只有两个分数，它们等于对两个 token 做因果注意力的最后一行。",
        ),
        Both(
            "The new token sees its own key too, so join before the scores. It is the newest, so no mask is "
            "needed: a triangle of "
            "[1, t+1] would leave it the first key alone.",
            "新 token 也看得到自己的 key，所以要先拼接再算分数。它是最新的，不需要掩码：[1, t+1] 的下三角只会留下第"
            "一个 key。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("output", "keys", "values"),
    kept=(3, 4),
)
