"""Numbers of an atlas as its figures write them: shares in percent, other measures with their unit."""

from __future__ import annotations

from math import ceil, floor

from inspector import text
from inspector.atlas.measures import Unit

_STEPS = (1.0, 2.0, 5.0)


def written(value: float, unit: Unit) -> str:
    """Write a value with its unit: "31 %", "2.05 nats"; shares under 10 % with two digits, and none below 0.01 %."""
    if unit != "share":
        return f"{text.number(value)} {unit}"
    percent = 100 * value
    if 99.95 <= percent < 100 or percent >= 10:
        return f"{min(percent, 99.9):.1f} %" if 99.5 <= percent < 100 else f"{percent:.0f} %"
    return "under 0.01 %" if 0 < percent < 0.01 else f"{percent:.2g} %"


def root_ticks(largest: float, *, most: int = 7) -> list[float]:
    """Choose values for the ticks of an axis of square roots from 0 to the largest: 1, 2 or 5 times a power of ten."""
    ticks = [0.0]
    for power in range(-4, 5):
        ticks += [step * 10.0**power for step in _STEPS if step * 10.0**power <= largest]
    spaced = [ticks[-1]]
    for tick in reversed(ticks[:-1]):
        if spaced[-1] ** 0.5 - tick**0.5 >= largest**0.5 / most:
            spaced.append(tick)
    return sorted({0.0, *spaced})


def even_ticks(low: float, high: float, *, least: int = 4) -> list[float]:
    """Choose round values between two ends: multiples of 1, 2 or 5 times a power of ten, at least `least` of them."""
    for power in range(4, -7, -1):
        for times in reversed(_STEPS):
            step = times * 10.0**power
            first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
            if last - first + 1 >= least:
                return [number * step for number in range(first, last + 1)]
    return [low, high]
