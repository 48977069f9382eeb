"""Task 7: rotary position embedding in halves (Su et al. 2021; the order of Llama)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inspector.practice.record.task import Case, Mistake, Task
from inspector.practice.tasks import recordings
from inspector.practice.tasks.stages import Array, ends, last_two, same, way
from inspector.questions.record.both import Both

Pair = tuple[Array, Array]


def _halves(x: Array) -> Pair:
    half = x.shape[-1] // 2
    return x[..., :half], x[..., half:]


def _neighbours(x: Array) -> Pair:
    return x[..., 0::2], x[..., 1::2]


def _beside(a: Array, b: Array) -> Array:
    return np.concatenate([a, b], axis=-1)


def _taking_turns(a: Array, b: Array) -> Array:
    return np.stack([a, b], axis=-1).reshape(*a.shape[:-1], -1)


def computed(
    x: Array,
    base: float,
    *,
    pairs: Callable[[Array], Pair] = _halves,
    places: Callable[[Array], Array] = lambda x: np.arange(x.shape[-2])[:, None] * 1.0,
    exponents: Callable[[int], Array] = lambda width: np.arange(0, width, 2) / width,
    frequency: Callable[[float, Array], Array] = lambda base, e: base**-e,
    angle: Callable[[Array, Array], Array] = np.multiply,
    turn: Callable[[Array, Array, Array, Array], Pair] = lambda a, b, cos, sin: (a * cos - b * sin, b * cos + a * sin),
    put: Callable[[Array, Array], Array] = _beside,
    whole: Callable[[Array, Array, float], Array] | None = None,
    end: Callable[[Array], Array] = same,
) -> Array:
    """Return x with each pair (i, i + E/2) turned by position * base^(-2i/E).

    whole: computes the result from x and the angles [n, E/2], where no pair is turned.
    """
    angles = np.asarray(angle(places(x), frequency(base, exponents(x.shape[-1]))), x.dtype)
    if whole is not None:
        return end(whole(x, angles, base))
    a, b = pairs(x)
    return end(put(*turn(a, b, np.cos(angles), np.sin(angles))))


def _by_columns(
    rotated: Callable[[Array], Array], columns: Callable[[Array], Array]
) -> Callable[[Array, Array, float], Array]:
    """Return x cos + rotated(x) sin, the angles spread over the columns."""

    def whole(x: Array, angles: Array, base: float) -> Array:
        spread = columns(angles)
        return np.asarray(x * np.cos(spread) + rotated(x) * np.sin(spread))

    return whole


def _twice(angles: Array) -> Array:
    return np.concatenate([angles, angles], axis=-1)


def _each_twice(angles: Array) -> Array:
    return np.repeat(angles, 2, axis=-1)


def _turned(x: Array) -> Array:
    """Return (-second half, first half)."""
    a, b = _halves(x)
    return _beside(-b, a)


def _turned_neighbours(x: Array) -> Array:
    a, b = _neighbours(x)
    return _taking_turns(-b, a)


def _overwritten(a: Array, b: Array, cos: Array, sin: Array) -> Pair:
    a = a * cos - b * sin
    return a, b * cos + a * sin


def _overwritten_second(a: Array, b: Array, cos: Array, sin: Array) -> Pair:
    b = b * cos + a * sin
    return a * cos - b * sin, b


def _sinusoids(x: Array, angles: Array, base: float) -> Array:
    return x + _beside(np.sin(angles), np.cos(angles))


MISTAKES = (
    Mistake(
        "neighbours are turned (2i and 2i+1, the order of GPT-J): pairs of halves (i and i + E/2) are due",
        (way(pairs=_neighbours, put=_taking_turns),),
    ),
    Mistake(
        "the pairs are halves, and the result is put together as neighbours",
        (way(put=_taking_turns),),
    ),
    Mistake(
        "the pairs are neighbours, and the result is put together as halves",
        (way(pairs=_neighbours),),
    ),
    Mistake(
        "the angles stand in pairs of neighbours (repeated) and the halves are turned: the columns do not belong "
        "together",
        (way(whole=_by_columns(_turned, _each_twice)),),
    ),
    Mistake(
        "the angles stand in halves and neighbours are turned: the columns do not belong together",
        (way(whole=_by_columns(_turned_neighbours, _twice)),),
    ),
    Mistake(
        "the pairs turn backwards: the sign of sin is wrong in both lines",
        (
            way(turn=lambda a, b, c, s: (a * c + b * s, b * c - a * s)),
            way(pairs=_neighbours, put=_taking_turns, turn=lambda a, b, c, s: (a * c + b * s, b * c - a * s)),
        ),
    ),
    Mistake(
        "the minus is missing: a cos + b sin in the first half",
        (way(turn=lambda a, b, c, s: (a * c + b * s, b * c + a * s)),),
    ),
    Mistake(
        "the second half has a minus too: b cos − a sin", (way(turn=lambda a, b, c, s: (a * c - b * s, b * c - a * s)),)
    ),
    Mistake(
        "the halves are not exchanged before sin multiplies",
        (
            way(turn=lambda a, b, c, s: (a * c - a * s, b * c + b * s)),
            way(turn=lambda a, b, c, s: (a * c + a * s, b * c - b * s)),
            way(turn=lambda a, b, c, s: (a * c + a * s, b * c + b * s)),
            way(turn=lambda a, b, c, s: (a * c - a * s, b * c - b * s)),
        ),
    ),
    Mistake(
        "sin and cos are exchanged",
        (
            way(turn=lambda a, b, c, s: (a * s - b * c, b * s + a * c)),
            way(turn=lambda a, b, c, s: (a * s + b * c, b * s - a * c)),
            way(turn=lambda a, b, c, s: (a * s - b * c, a * c + b * s)),
        ),
    ),
    Mistake(
        "both halves are given in the other order",
        (way(put=lambda a, b: _beside(b, a)), way(turn=lambda a, b, c, s: (b * c + a * s, a * c - b * s))),
    ),
    Mistake(
        "the roles of the halves are exchanged: b cos − a sin stands first",
        (way(turn=lambda a, b, c, s: (b * c - a * s, a * c + b * s)),),
    ),
    Mistake(
        "the first half is overwritten before the second one is computed from it",
        (way(turn=_overwritten), way(turn=_overwritten_second)),
    ),
    Mistake("only the first half is turned", (way(turn=lambda a, b, c, s: (a * c - b * s, b)),)),
    Mistake(
        "the part with sin is missing in one of the halves",
        (
            way(turn=lambda a, b, c, s: (a * c - b * s, b * c)),
            way(turn=lambda a, b, c, s: (a * c, b * c + a * s)),
        ),
    ),
    Mistake("only the second half is turned", (way(turn=lambda a, b, c, s: (a, b * c + a * s)),)),
    Mistake(
        "only cos multiplies: the part with sin is missing",
        (
            way(turn=lambda a, b, c, s: (a * c, b * c)),
            way(turn=lambda a, b, c, s: (a * c, b * s)),
            way(turn=lambda a, b, c, s: (a * s, b * s)),
        ),
    ),
    Mistake("positions count from 1, not from 0", (way(places=lambda x: np.arange(1.0, x.shape[-2] + 1)[:, None]),)),
    Mistake("positions are in reverse order", (way(places=lambda x: np.arange(x.shape[-2])[::-1, None] * 1.0),)),
    Mistake(
        "positions are divided by their number", (way(places=lambda x: np.arange(x.shape[-2])[:, None] / x.shape[-2]),)
    ),
    Mistake(
        "every position has the same angle",
        (way(places=lambda x: np.ones((1, 1))), way(places=lambda x: np.full((1, 1), x.shape[-2] * 1.0))),
    ),
    Mistake(
        "the position is that in the batch, not that in the text",
        (way(places=lambda x: np.arange(x.shape[0])[:, None, None] * 1.0),),
    ),
    Mistake(
        "the position goes on from one text of the batch to the next",
        (way(places=lambda x: np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[0], x.shape[1], 1) * 1.0),),
    ),
    Mistake("the exponent is i/E: the 2 of 2i/E is missing", (way(exponents=lambda w: np.arange(w // 2) / w),)),
    Mistake(
        "the exponent is 4i/E: 2i is doubled, or divided by E/2",
        (way(exponents=lambda w: 2 * np.arange(0, w, 2) / w),),
    ),
    Mistake("the exponent is i/(E/2 − 1)", (way(exponents=lambda w: np.arange(w // 2) / (w // 2 - 1)),)),
    Mistake("i counts from 1, not from 0", (way(exponents=lambda w: 2 * np.arange(1, w // 2 + 1) / w),)),
    Mistake("the exponent has the wrong sign: base^(+2i/E)", (way(frequency=lambda b, e: b**e),)),
    Mistake(
        "the division by E is missing in the exponent",
        (way(exponents=lambda w: np.arange(0, w, 2.0)), way(exponents=lambda w: np.arange(w // 2) * 1.0)),
    ),
    Mistake(
        "the exponent is rounded to whole numbers (//)",
        (
            way(exponents=lambda w: np.zeros(w // 2)),
            way(exponents=lambda w: np.where(np.arange(w // 2) == 0, 0.0, 1.0)),
        ),
    ),
    Mistake(
        "the base is fixed at 10000: the argument is not used",
        tuple(way(frequency=lambda b, e, c=c: c**-e) for c in (10000.0, 1000.0, np.e, 500000.0)),
    ),
    Mistake("the frequencies are in reverse order", (way(exponents=lambda w: np.arange(0, w, 2)[::-1] / w),)),
    Mistake(
        "each column has a frequency of its own: a pair must turn by one angle",
        (
            way(whole=lambda x, t, base: _full(x, base, lambda w: np.arange(w) / w)),
            way(whole=lambda x, t, base: _full(x, base, lambda w: 2 * np.arange(w) / w)),
        ),
    ),
    Mistake(
        "the base is divided by the exponent or multiplied",
        (way(frequency=lambda b, e: 1 / (b * np.maximum(e, 1e-300))), way(frequency=lambda b, e: 1 / (1 + b * e))),
    ),
    Mistake(
        "the logarithm is to base 10 or 2, not e",
        (way(frequency=lambda b, e: np.exp(-e * np.log10(b))), way(frequency=lambda b, e: np.exp(-e * np.log2(b)))),
    ),
    Mistake(
        "the angle is multiplied by 2π",
        (way(angle=lambda p, f: 2 * np.pi * p * f), way(angle=lambda p, f: np.pi * p * f)),
    ),
    Mistake(
        "the angle is in degrees",
        (way(angle=lambda p, f: np.deg2rad(p * f)), way(angle=lambda p, f: np.rad2deg(p * f))),
    ),
    Mistake("the frequency is added to the position", (way(angle=np.add),)),
    Mistake("the position divides by the frequency", (way(angle=lambda p, f: p / f),)),
    Mistake(
        "all pairs have the same frequency",
        (way(exponents=lambda w: np.zeros(w // 2)), way(exponents=lambda w: np.ones(w // 2))),
    ),
    Mistake(
        "a sinusoidal vector is added: x should be turned",
        (
            way(whole=_sinusoids),
            way(whole=lambda x, t, base: x + _taking_turns(np.sin(t), np.cos(t))),
        ),
    ),
    Mistake("x is multiplied by its position", (way(whole=lambda x, t, base: x * np.arange(x.shape[-2])[:, None]),)),
    Mistake(
        "x is multiplied by the cosine and the sine of its columns",
        (
            way(whole=lambda x, t, base: x * _beside(np.cos(t), np.sin(t))),
            way(whole=lambda x, t, base: x * (np.cos(_twice(t)) + np.sin(_twice(t)))),
        ),
    ),
    Mistake("only a part of the width is turned", (way(turn=lambda a, b, c, s: _part(a, b, c, s)),)),
    Mistake(
        "the real or the imaginary part alone is returned",
        (
            way(put=lambda a, b: a),
            way(put=lambda a, b: b),
            way(pairs=_neighbours, put=lambda a, b: a),
        ),
    ),
    Mistake("the turn is made twice", (way(angle=lambda p, f: 2 * p * f),)),
    Mistake("x is added to the result", (way(whole=lambda x, t, base: x + _by_columns(_turned, _twice)(x, t, base)),)),
    Mistake("x is returned unchanged", (way(whole=lambda x, t, base: x),)),
    Mistake("the result is transposed", (way(end=last_two),)),
    *ends("end"),
)


def _full(x: Array, base: float, exponents: Callable[[int], Array]) -> Any:
    angles = np.arange(x.shape[-2])[:, None] * base ** -exponents(x.shape[-1])
    return x * np.cos(angles) + _turned(x) * np.sin(angles)


def _part(a: Array, b: Array, cos: Array, sin: Array) -> Pair:
    kept = a.shape[-1] // 2
    first, second = a * cos - b * sin, b * cos + a * sin
    return _beside(first[..., :kept], a[..., kept:]), _beside(second[..., :kept], b[..., kept:])


def made() -> tuple[Case, ...]:
    """Make queries of widths 4, 6 and 8, with two bases."""
    random = np.random.default_rng(7)

    def some(*shape: int) -> Array:
        return random.normal(size=shape).astype(np.float32)

    return (
        Case("small whole numbers, base 100", (random.integers(-2, 3, size=(2, 3, 4)).astype(np.float32), 100.0)),
        Case("5 tokens of width 6, base 10,000", (some(2, 5, 6), 10000.0)),
        Case("7 tokens of width 8, base 50", (some(2, 7, 8), 50.0)),
        Case("equal lengths", (some(4, 4, 4), 10.0), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give the queries of two heads of mini-bert."""
    return (Case("the queries of two heads of mini-bert", (recordings.heads("mini-bert")[0], 10.0)),)


TASK = Task(
    7,
    "rope",
    "inside a layer",
    "rotate",
    ("x", "base"),
    title=Both("RoPE", "RoPE"),
    asked=Both(
        "x is [B, n, E], E even; a row's position is its number, from 0. Return [B, n, E]: the pair of columns i "
        "and i + E/2 "
        "turned by the angle position · base^(−2i/E), as Llama does.",
        "x 为 [B, n, E]，E 为偶数；行号即位置，从 0 开始。返回 [B, n, E]：把第 i 列与第 i + E/2 列组成的一对旋转"
        " position · base^(−2i/E)，与 Llama 相同。",
    ),
    hints=(
        Both(
            "With a = x[i], b = x[i + E/2] and the angle t: a' = a cos t − b sin t, b' = b cos t + a sin t (Su et "
            "al. 2021).",
            "设 a = x[i]，b = x[i + E/2]，角度为 t：a' = a cos t − b sin t，b' = b cos t + a sin t（Su 等人，2021）。",
        ),
        Both(
            "Position 0 stays as it is. E = 2: the row 1, 0 at position 1 becomes cos 1, sin 1. The length of a "
            "row never changes.",
            "位置 0 不变。E = 2 时，位置 1 上的 (1, 0) 变为 (cos 1, sin 1)。一行的长度永远不变。",
        ),
        Both(
            "x cos + rotate_half(x) sin needs rotate_half(x) = (−second half, first half) and angles laid twice "
            "side by side, "
            "not each one twice. Compute both halves from the old ones.",
            "x cos + rotate_half(x) sin 中，rotate_half(x) = (−后半, 前半)，角度要整体并排两份，而不是每个重复两次"
            "。两半都要由旧值计算。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
)
