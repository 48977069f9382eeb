"""Heavy work of many visitors, a few at once, each in turn."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Condition


class Turns:
    """A line of visitors of whom the first `places` work at once; whoever is done, stopped or gone leaves the line.

    ```python
    turns = Turns(1)
    with turns.taken("a visitor", tell=lambda place: print(f"number {place} in the queue")):
        ...  # the work
    ```
    """

    def __init__(self, places: int) -> None:
        if places < 1:
            raise ValueError(f"{places} places let nobody work; give 1 or more")
        self.places = places
        self._line: list[tuple[Hashable, object]] = []  # visitor and ticket, in the order in which they came
        self._moved = Condition()

    @contextmanager
    def taken(self, visitor: Hashable, *, tell: Callable[[int], object], every: float = 0.2) -> Iterator[None]:
        """Wait for a place, hold it in the block, and give it back however the block ends.

        visitor: who has a place already, or works in the block of another `taken`, does not wait again.
        tell: called every so many seconds with the place in the queue, 1 for the next; what it raises ends the wait.
        """
        ticket = (visitor, object())
        with self._moved:
            inside = any(other == visitor for other, _ in self._line[: self.places])
            if not inside:
                self._line.append(ticket)
        if inside:
            yield
            return
        try:
            while place := self._place(ticket, every):
                tell(place)
            yield
        finally:
            with self._moved:
                self._line.remove(ticket)
                self._moved.notify_all()

    @property
    def waiting(self) -> int:
        """The number of visitors who wait."""
        return max(0, len(self._line) - self.places)

    def _place(self, ticket: tuple[Hashable, object], seconds: float) -> int:
        """The place in the queue, 0 where it is this one's turn; returns at a turn or after `seconds`."""
        with self._moved:
            self._moved.wait_for(lambda: self._line.index(ticket) < self.places, timeout=seconds)
            return max(0, self._line.index(ticket) - self.places + 1)
