"""The cache of results: what was computed once is kept for all visitors, within a budget of bytes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from inspector.memory.cache import ByteBudgetCache
from inspector.memory.held import held_bytes
from inspector.views.server.shared import Shared
from models import settings

V = TypeVar("V")

CACHE_BYTES = settings.number("CACHE_MB") * 2**20


@Shared
def results() -> ByteBudgetCache[Any]:
    """Return the cache of this process."""
    return ByteBudgetCache(CACHE_BYTES)


def holds(key: Hashable) -> bool:
    """Return True if `cached` has nothing to make for the key."""
    return results().holds(key)


def cached(key: Hashable, make: Callable[[], V]) -> V:
    """`make()`, or what it gave before for the same key; what it holds counts towards one budget for all visitors."""
    return cast("V", results().get(key, make, size=held_bytes))
