"""A cache with a byte budget, shared by threads: what was used longest ago leaves first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class ByteBudgetCache(Generic[V]):
    """Least recently used values leave when their sizes add up to more than `budget` bytes.

    A value larger than the whole budget is handed out, not kept, and pushes nothing out.
    """

    def __init__(self, budget: int) -> None:
        if budget < 0:
            raise ValueError(f"a budget of {budget} bytes holds nothing; give 0 or more")
        self.budget = budget
        self.used = 0
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], V], *, size: Callable[[V], int]) -> V:
        """The value of `key`, made by `make` where it is not held; `size` gives its bytes.

        Two threads that miss at once both make it (outside the lock, so that nobody waits); one value is kept.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
        value = make()
        needed = size(value)
        with self._lock:
            if key not in self._values and needed <= self.budget:
                while self.used + needed > self.budget:
                    _, (_, freed) = self._values.popitem(last=False)
                    self.used -= freed
                self._values[key] = (value, needed)
                self.used += needed
        return value
