"""Values of the whole process: the shelf of models, results, turns. st.cache_resource is not for them: any visitor's
message can clear it, and with it everybody's."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class Shared(Generic[V]):
    """A value that is made at its first use, once for all threads, and stays; where that fails, the next use tries.

    ```python
    @Shared
    def results() -> dict[str, int]:
        return {}

    results()["a"] = 1
    ```
    """

    def __init__(self, make: Callable[[], V]) -> None:
        self._make = make
        self._made: list[V] = []
        self._lock = Lock()

    def __call__(self) -> V:
        """Return the value; what making it raises is passed on."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    def forget(self) -> None:
        """Make it anew at the next use: for tests, which change what it is made from."""
        with self._lock:
            self._made.clear()
