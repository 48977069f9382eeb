"""Closeness of computed numbers, relative to the largest of them, for processors round differently."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
import torch


def assert_close(actual: Any, expected: Any, *, relative: float, scale: Any = None) -> None:
    """Hold numbers to the expected ones: no entry is off by more than `relative` times the largest finite |expected|.

    Both are numbers, tensors, arrays, pandas tables or lists of one shape; a Python number is expected of every entry.
    Tensors have one dtype, and NaN and infinities stand in the same places. `scale` gives, in place of `expected`, the
    numbers whose largest gives the size: what a difference that should vanish was taken of. Where all are 0, only
    equal numbers are close.
    """
    __tracebackhide__ = True
    if isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor):
        assert actual.dtype == expected.dtype, f"{actual.dtype} is not the expected {expected.dtype}"
    found, wanted = float64(actual), float64(expected)
    if isinstance(expected, Number):
        wanted = np.broadcast_to(wanted, found.shape)
    assert found.shape == wanted.shape, f"shape {found.shape} is not the expected {wanted.shape}"
    size = largest(wanted if scale is None else float64(scale))
    with np.errstate(invalid="ignore"):  # inf - inf
        off = np.where((found == wanted) | (np.isnan(found) & np.isnan(wanted)), 0.0, np.abs(found - wanted))
    off = np.where(np.isnan(off), np.inf, off)
    far = off > relative * size
    if not far.any():
        return
    worst = tuple(int(axis) for axis in np.unravel_index(off.argmax(), off.shape))
    raise AssertionError(
        f"{found[worst]:.9g} is not the expected {wanted[worst]:.9g} at {list(worst)}: off by {off[worst]:.3g}, "
        f"where {relative:g} of the largest, {size:.9g}, is allowed; {far.mean():.1%} are too far off"
    )


def relative_error(actual: Any, expected: Any) -> float:
    """Measure the largest finite difference as a share of the largest |expected|."""
    wanted = float64(expected)
    off, size = largest(float64(actual) - wanted), largest(wanted)
    return off / size if size else float(np.inf if off else 0)


def largest(numbers: np.ndarray) -> float:
    """Return the largest finite magnitude; 0 where there is none."""
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))


def float64(numbers: Any) -> np.ndarray:
    """Read numbers of any kind and place."""
    if isinstance(numbers, torch.Tensor):
        numbers = numbers.detach().double().cpu().numpy()
    return np.asarray(numbers, dtype=np.float64)
