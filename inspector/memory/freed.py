"""Memory that was freed, given back to the system: glibc keeps much of it where allocations differ in size."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def release() -> bool:
    """Give the memory that is free in every arena back to the system, in a few milliseconds.

    Returns False, and does nothing, where the C library has no `malloc_trim` (musl, macOS, Windows): there freed memory
    stays with the process until the library itself gives it back.
    """
    trim = _malloc_trim()
    if trim is None:
        return False
    trim(0)
    return True


def can_release() -> bool:
    """Return True if `release` has an effect on this system: a C library with `malloc_trim`, which is glibc."""
    return _malloc_trim() is not None


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
