"""Task 6: the sinusoidal table (Vaswani et al. 2017, 3.5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inspector.practice.record.task import Case, Mistake, Task
from inspector.practice.tasks.stages import Array, ends, same, way
from inspector.questions.record.both import Both


def _exponents(width: int) -> Array:
    """Return 2i/width of each pair, [width/2]."""
    return np.arange(0, width, 2) / width


def _alternating(sin: Array, cos: Array, width: int) -> Array:
    table = np.empty((len(sin), width))
    table[:, 0::2], table[:, 1::2] = sin, cos
    return table


def computed(
    positions: int,
    width: int,
    *,
    places: Callable[[int], Array] = lambda n: np.arange(n, dtype=np.float64),
    exponents: Callable[[int], Array] = _exponents,
    frequency: Callable[[Array], Array] = lambda e: 10000.0**-e,
    angle: Callable[[Array, Array], Array] = np.outer,
    layout: Callable[[Array, Array, int], Array] = _alternating,
    own: Callable[[int], Array] | None = None,
    end: Callable[[Array], Array] = same,
) -> Array:
    """Return sin and cos of position * 10000^(-2i/width). own: exponents of the cosines, where they are others."""
    place = places(positions)
    angles = angle(place, frequency(exponents(width)))
    of_cos = angles if own is None else angle(place, frequency(own(width)))
    return end(layout(np.sin(angles), np.cos(of_cos), width))


def _blocks(first: Array, second: Array, width: int) -> Array:
    return np.concatenate([first, second], axis=-1)


def _rows(sin: Array, cos: Array, width: int) -> Array:
    """Give even positions sines and odd positions cosines."""
    sin, cos = np.repeat(sin, 2, axis=-1), np.repeat(cos, 2, axis=-1)
    return np.where(np.arange(len(sin))[:, None] % 2 == 0, sin, cos)


MISTAKES = (
    Mistake("all sines stand before all cosines: they should take turns", (way(layout=_blocks),)),
    Mistake("all cosines stand before all sines", (way(layout=lambda s, c, w: _blocks(c, s, w)),)),
    Mistake("sine and cosine are exchanged", (way(layout=lambda s, c, w: _alternating(c, s, w)),)),
    Mistake(
        "every column is a sine",
        (way(layout=lambda s, c, w: np.repeat(s, 2, -1)), way(layout=lambda s, c, w: _alternating(s, s, w))),
    ),
    Mistake("every column is a cosine", (way(layout=lambda s, c, w: np.repeat(c, 2, -1)),)),
    Mistake(
        "the columns of cosine stay 0",
        (
            way(layout=lambda s, c, w: _alternating(s, np.zeros_like(c), w)),
            way(layout=lambda s, c, w: _alternating(s, np.ones_like(c), w)),
        ),
    ),
    Mistake("the columns of sine stay 0", (way(layout=lambda s, c, w: _alternating(np.zeros_like(s), c, w)),)),
    Mistake("only half of the columns is returned", (way(layout=lambda s, c, w: s), way(layout=lambda s, c, w: c))),
    Mistake(
        "sines and cosines are added",
        (way(layout=lambda s, c, w: s + c), way(layout=lambda s, c, w: np.repeat(s + c, 2, -1))),
    ),
    Mistake(
        "sine and cosine are chosen by the position, not by the column",
        (way(layout=_rows), way(layout=lambda s, c, w: _rows(c, s, w))),
    ),
    Mistake(
        "the exponent is i/width: the 2 of 2i/width is missing",
        (way(exponents=lambda w: np.arange(w // 2) / w),),
    ),
    Mistake(
        "the exponent is 2·column/width: the column is doubled, where it is 2i already",
        (
            way(exponents=lambda w: 2 * np.arange(0, w, 2) / w),
            way(exponents=lambda w: 2 * np.arange(0, w, 2) / w, own=lambda w: 2 * np.arange(1, w, 2) / w),
            way(own=lambda w: 2 * np.arange(1, w, 2) / w, exponents=lambda w: 2 * np.arange(0, w, 2) / w),
        ),
    ),
    Mistake(
        "a cosine takes its own column in the exponent: both columns of a pair have the angle of the even column",
        (
            way(own=lambda w: np.arange(1, w, 2) / w),
            way(own=lambda w: (np.arange(1, w, 2) + 1) / w),
        ),
    ),
    Mistake(
        "the exponent is i/(width/2 − 1)",
        (
            way(exponents=lambda w: np.arange(w // 2) / (w // 2 - 1)),
            way(exponents=lambda w: 2 * np.arange(w // 2) / (w - 1)),
        ),
    ),
    Mistake("i counts from 1, not from 0", (way(exponents=lambda w: 2 * np.arange(1, w // 2 + 1) / w),)),
    Mistake(
        "the exponent has the wrong sign: 10000^(+2i/width)",
        (way(frequency=lambda e: 10000.0**e),),
    ),
    Mistake(
        "the exponent is rounded to whole numbers (//)",
        (
            way(exponents=lambda w: np.arange(0, w, 2) // w),
            way(frequency=lambda e: 10000.0 ** -np.ceil(e)),
        ),
    ),
    Mistake(
        "the division by width is missing in the exponent",
        (
            way(exponents=lambda w: np.arange(0, w, 2.0)),
            way(exponents=lambda w: np.arange(w // 2) * 1.0),
            way(exponents=lambda w: -np.arange(0, w, 2.0)),
        ),
    ),
    Mistake(
        "the exponent is divided by the number of positions or by another width",
        (
            way(exponents=lambda w: np.arange(0, w, 2) / (2 * w)),
            way(exponents=lambda w: np.arange(0, w, 2) / (w * w)),
            way(exponents=lambda w: np.arange(0, w, 2) / np.sqrt(w)),
            way(exponents=lambda w: np.arange(w // 2) / np.sqrt(w)),
        ),
    ),
    Mistake(
        "the base is not 10000",
        tuple(
            way(frequency=lambda e, b=b: b**-e)
            for b in (1000.0, 100000.0, 100.0, 10.0, 2.0, np.e, 500000.0, 1e6, 256.0)
        ),
    ),
    Mistake(
        "the logarithm is to base 10 or 2, not e",
        (
            way(frequency=lambda e: np.exp(-e * 4.0)),
            way(frequency=lambda e: np.exp(-e * np.log2(10000.0))),
        ),
    ),
    Mistake("the frequencies are in reverse order", (way(exponents=lambda w: _exponents(w)[::-1]),)),
    Mistake(
        "the angle is multiplied by 2π",
        (way(angle=lambda p, f: 2 * np.pi * np.outer(p, f)), way(angle=lambda p, f: np.pi * np.outer(p, f))),
    ),
    Mistake(
        "the angle is in degrees",
        (way(angle=lambda p, f: np.deg2rad(np.outer(p, f))), way(angle=lambda p, f: np.rad2deg(np.outer(p, f)))),
    ),
    Mistake("the frequency is added to the position, not multiplied", (way(angle=np.add.outer),)),
    Mistake("the position divides by the frequency", (way(angle=lambda p, f: np.outer(p, 1 / f)),)),
    Mistake("the frequency divides by the position", (way(angle=lambda p, f: np.outer(1 / (p + 1), f)),)),
    Mistake("the position stands in the exponent", (way(angle=lambda p, f: f[None] ** p[:, None]),)),
    Mistake("positions count from 1, not from 0", (way(places=lambda n: np.arange(1.0, n + 1)),)),
    Mistake(
        "positions are divided by their number",
        (way(places=lambda n: np.arange(n) / n), way(places=lambda n: np.linspace(0, 1, n))),
    ),
    Mistake("positions are in reverse order", (way(places=lambda n: np.arange(n)[::-1] * 1.0),)),
    Mistake(
        "every position is the same",
        (
            way(places=lambda n: np.ones(n)),
            way(places=lambda n: np.zeros(n)),
            way(places=lambda n: np.full(n, n * 1.0)),
        ),
    ),
    Mistake(
        "all pairs have the same frequency",
        (way(exponents=lambda w: np.ones(w // 2)), way(exponents=lambda w: np.zeros(w // 2))),
    ),
    Mistake("the table is transposed: [width, positions]", (way(end=np.transpose),)),
    Mistake(
        "the table is scaled",
        (
            way(end=lambda t: t / np.sqrt(t.shape[1])),
            way(end=lambda t: t * np.sqrt(t.shape[1])),
            way(end=lambda t: t / np.linalg.norm(t, axis=-1, keepdims=True)),
        ),
    ),
    Mistake("the table has an axis of the batch too", (way(end=lambda t: t[None]), way(end=lambda t: t[:, None]))),
    Mistake("the angle itself is returned", (way(layout=lambda s, c, w: np.repeat(np.arctan2(s, c), 2, -1)),)),
    Mistake("the table is rounded", tuple(way(end=lambda t, d=d: np.round(t, d)) for d in (0, 1, 2))),
    *ends("end", batch=False),
)


def made() -> tuple[Case, ...]:
    """Make tables of several sizes, the number of positions below and above the width."""
    return (
        Case("3 positions, width 4", (3, 4)),
        Case("7 positions, width 10", (7, 10)),
        Case("20 positions, width 6", (20, 6)),
        Case("8 positions, width 8", (8, 8), square=True),
    )


def recorded() -> tuple[Case, ...]:
    """Give the size of the translator's own table."""
    return (Case("the size of a small model's table, 64 positions of width 48", (64, 48)),)


TASK = Task(
    6,
    "sinusoidal",
    "inside a layer",
    "sinusoidal",
    ("positions", "width"),
    title=Both("The sinusoidal table", "正弦位置表"),
    asked=Both(
        "Return the table [positions, width] of Vaswani et al. (2017), section 3.5: the sine in even columns and "
        "the cosine in "
        "odd ones, of position / 10000^(2i/width), where i is the number of the pair of columns. width is even.",
        "返回 Vaswani 等人（2017）3.5 节的表 [positions, width]：偶数列为 position / 10000^(2i/width) 的 sin，奇"
        "数列为其 cos，i 是列对的序号。width 为偶数。",
    ),
    hints=(
        Both(
            "PE(p, 2i) = sin(p / 10000^(2i/width)), PE(p, 2i+1) = cos(p / 10000^(2i/width)).",
            "PE(p, 2i) = sin(p / 10000^(2i/width))，PE(p, 2i+1) = cos(p / 10000^(2i/width))。",
        ),
        Both(
            "Width 4: pair 0 turns by 1 a position, pair 1 by 10000^(−1/2) = 0.01. Position 0 is 0, 1, 0, 1 and "
            "position 1 is "
            "sin 1, cos 1, sin 0.01, cos 0.01.",
            "宽度 4：第 0 对每个位置转 1，第 1 对转 10000^(−1/2) = 0.01。位置 0 为 0、1、0、1，位置 1 为 sin 1、"
            "cos 1、sin 0.01、cos 0.01。",
        ),
        Both(
            "arange(0, width, 2) is 2i already, and must not be doubled again. Both columns of a pair have the "
            "same angle. Sine "
            "and cosine take turns; halves side by side are another convention.",
            "arange(0, width, 2) 已经是 2i，不要再乘 2。一对中的两列角度相同。sin 与 cos 交替排列；左右两半排列是另"
            "一种约定。",
        ),
    ),
    compute=computed,
    mistakes=MISTAKES,
    made=made,
    recorded=recorded,
    result=("table",),
)
