"""Numbers and slices as a reader gives them: counted from 0, or from the end."""

from __future__ import annotations

import numpy as np


def counted(number: int, what: str, *, count: int) -> int:
    """Count from 0 what may be counted from the end: -1 is the last of `count`. ValueError for what is no number."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise ValueError(f"{what} is {str(number)[:60]!a}, a {type(number).__name__}: give a whole number")
    return int(number) + count if -count <= number < 0 else int(number)


def places(chosen: slice, what: str, *, count: int) -> slice:
    """A numpy slice with its start and stop counted from 0; ValueError where it holds nothing or leaves some out."""
    start, stop, step = chosen.indices(count)
    if step != 1 or start >= stop:
        raise ValueError(
            f"{what} {start} to {stop} in steps of {step} are no window of {count}; give slice(start, stop)"
        )
    return slice(start, stop)
