"""The app's settings for its process: torch's threads, freed memory, garbage collection."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from inspector.memory import freed
from inspector.views.server.shared import Shared
from models import settings

THREADS = settings.number("THREADS")
_KEPT = 256 * 2**20  # bytes of freed memory that may wait to be used again, at the end of each of glibc's arenas
_LARGEST_KEPT = 32 * 2**20  # bytes of a block, the most that glibc takes
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h


def use_threads() -> None:
    """Set torch's thread count; torch keeps it per thread, so call this in every thread that runs a model."""
    import torch

    torch.set_num_threads(THREADS)


@Shared
def tune_memory() -> None:
    """Tune memory once, after the first model is loaded."""
    if sys.platform == "linux":
        _keep_freed_memory()
    # Streamlit collects garbage after each run and sends nothing meanwhile: a quarter of a second to look through all
    # objects of torch and transformers. These live as long as the process, so the collector skips them, and with them
    # the few thousand that their imports left behind: to find those first takes another quarter.
    gc.freeze()


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage while the block runs, and keep what it leaves out of later collections.

    For a block that imports torch and transformers: each of their objects stays, and a sixth of the time would go into
    looking through them again and again.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def imports_frozen() -> Iterator[None]:
    """Keep what the block imports out of later collections, of which Streamlit makes one after each run of the page."""
    before = len(sys.modules)
    try:
        yield
    finally:
        if len(sys.modules) > before:
            gc.freeze()


def release_memory() -> None:
    """Give the memory that is free in every arena back to the system; no effect without glibc (musl, macOS, Windows).

    Each run of the page is a thread, and gets one of up to eight arenas a core. A large work leaves its holes in the
    arena of its thread, where the next thread does not look: without this they add up to half a gigabyte.
    """
    freed.release()


def _keep_freed_memory() -> None:
    """Keep freed memory for the next block of a long text's maps: new pages would take as long as the maps.

    No effect without glibc (musl).
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGEST_KEPT)
        mallopt(_M_TRIM_THRESHOLD, _KEPT)
