"""Long work of many visitors, a few at once, each in turn, slice by slice, and all behind what takes a moment."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition
from time import monotonic

SLICE = 1.0  # seconds of work after which a work lets those who wait go first
PAUSE = 1.0  # seconds at most that a work waits for clicks before it goes on beside them
NOTED = 10.0  # seconds without letting anybody go first that are worth a line in the log


@dataclass(frozen=True)
class Place:
    """The place of a visitor who waits.

    number: 1 for the next. before: the works that go first. seconds: until the turn comes; None where a work that goes
    first was not measured yet.
    """

    number: int
    before: tuple[str, ...]
    seconds: float | None


Tell = Callable[[Place | None], object]


@dataclass(eq=False)
class _Ticket:
    """A work in the line, with moments and lengths in seconds.

    since: when its present slice began, None while it waits. worked: before that. seam: when it last looked at who
    waits. stretch: the longest between two looks. left: of work that is left. paused: its last wait for clicks, which
    ended when it resumed.
    """

    visitor: Hashable
    work: str
    tell: Tell
    since: float | None = None
    worked: float = 0.0
    seam: float = 0.0
    stretch: float | None = None
    left: float | None = None
    paused: float = 0.0
    resumed: float = 0.0
    noted: bool = False


class Turns:
    """A line of visitors of whom the first `places` work at once; whoever is done, stopped or gone leaves the line.

    ```python
    turns = Turns(1)
    with turns.taken("a visitor", work="Writing", tell=lambda place: print(f"number {place.number} in the queue")):
        for token in range(100):
            ...  # a piece of the work
            turns.give_way("a visitor", share=token / 100)
    ```
    """

    def __init__(self, places: int) -> None:
        if places < 1:
            raise ValueError(f"{places} places let nobody work; give 1 or more")
        self.places = places
        self._line: list[_Ticket] = []
        self._clicks: Counter[Hashable] = Counter()
        self._moved = Condition()

    @contextmanager
    def taken(self, visitor: Hashable, *, work: str, tell: Tell, every: float = 0.2) -> Iterator[None]:
        """Wait for a place, hold it in the block, and give it back however the block ends.

        visitor: who has a place already, or works in the block of another `taken`, does not wait again. work: what the
        others are told. tell: called every so many seconds with the place in the queue, and with None once the
        wait is over; what it raises ends the wait.
        """
        ticket = _Ticket(visitor, work, tell)
        with self._moved:
            inside = any(other.visitor == visitor for other in self._line[: self.places])
            if not inside:
                self._line.append(ticket)
                self._move()
        if inside:
            yield
            return
        try:
            self._wait(ticket, every)
            yield
        finally:
            with self._moved:
                self._note(ticket)
                self._line.remove(ticket)
                self._move()

    def give_way(self, visitor: Hashable, *, share: float = 0.0, every: float = 0.2) -> bool:
        """Let clicks go first, and those who wait where the visitor's work had a slice; return True where they did.

        Call it between the pieces of a work that holds a place; elsewhere nothing happens. share: of the work that is
        done, for the others' estimate. What `tell` raises meanwhile ends the work.
        """
        with self._moved:
            ticket = next((other for other in self._line[: self.places] if other.visitor == visitor), None)
            if ticket is None or ticket.since is None:
                return False
            now = monotonic()
            since, worked = ticket.since, ticket.worked + now - ticket.since
            ticket.stretch, ticket.seam = max(now - ticket.seam, ticket.stretch or 0.0), now
            ticket.left = worked * (1 - share) / share if 0 < share <= 1 else ticket.left
            if not self.waiting:  # whoever comes now waits for a slice
                ticket.worked, ticket.since = worked, now
            if not self.waiting or now - since < SLICE:
                self._let_clicks_pass(ticket)
                return False
            self._note(ticket)
            ticket.worked, ticket.since, ticket.noted = worked, None, False
            self._line.remove(ticket)
            self._line.append(ticket)
            self._move()
        self._wait(ticket, every)
        return True

    @contextmanager
    def click(self, visitor: Hashable) -> Iterator[None]:
        """Let long work of other visitors pause while the block runs, which takes a moment."""
        with self._moved:
            self._clicks[visitor] += 1
        try:
            yield
        finally:
            with self._moved:
                self._clicks[visitor] -= 1
                self._clicks += Counter()  # keeps no visitor who has gone
                self._moved.notify_all()

    def alone(self, visitor: Hashable) -> bool:
        """Return True if nobody but this visitor works or draws a page now."""
        with self._moved:
            waiting = {ticket.visitor for ticket in self._line[self.places :]}
            working = {ticket.visitor for ticket in self._line[: self.places]}
            return not (working | self._clicks.keys()) - waiting - {visitor}

    def _let_clicks_pass(self, ticket: _Ticket) -> None:
        """Pause for clicks, and then work as long again before the next pause: no work stands still."""
        began = ticket.seam
        if began - ticket.resumed < ticket.paused or not self._clicked():
            return
        self._moved.wait_for(lambda: not self._clicked(), timeout=PAUSE)
        ticket.resumed = ticket.seam = monotonic()
        ticket.paused = ticket.resumed - began
        if ticket.since is not None:
            ticket.since += ticket.paused  # a pause is no work

    def _clicked(self) -> bool:
        return bool(self._clicks.keys() - {ticket.visitor for ticket in self._line})

    @property
    def waiting(self) -> int:
        """The number of visitors who wait."""
        return max(0, len(self._line) - self.places)

    def _wait(self, ticket: _Ticket, every: float) -> None:
        """Wait for the turn of a ticket in the line, telling its place."""
        waited = False
        while (place := self._place(ticket, every)) is not None:
            ticket.tell(place)
            waited = True
        if waited:
            ticket.tell(None)

    def _move(self) -> None:
        """Begin the slices of those who have come to a place, and wake all who wait."""
        for ticket in self._line[: self.places]:
            if ticket.since is None:
                ticket.since = ticket.seam = monotonic()
        self._moved.notify_all()

    def _place(self, ticket: _Ticket, seconds: float) -> Place | None:
        """The place in the queue, None where it is this one's turn; returns at a turn or after `seconds`."""
        with self._moved:
            self._moved.wait_for(lambda: self._line.index(ticket) < self.places, timeout=seconds)
            at = self._line.index(ticket)
            if at < self.places:
                return None
            for other in self._line[: self.places]:
                self._note(other)
            return Place(
                at - self.places + 1,
                before=tuple(other.work for other in self._line[:at]),
                seconds=self._until(at, monotonic()),
            )

    def _until(self, at: int, now: float) -> float | None:
        """The seconds until the ticket at this index has a place: a slice of each before it, by measured pace."""
        slices = []
        for other in self._line[:at]:
            if other.stretch is None or other.left is None:
                return None
            slice = min(other.left, max(SLICE, other.stretch))
            slices.append(slice if other.since is None else max(0.0, slice - (now - other.since)))
        return sum(slices) / self.places

    def _note(self, ticket: _Ticket) -> None:
        """Log, once a slice, a work that lets nobody go first for long."""
        held = 0.0 if ticket.since is None else monotonic() - ticket.since
        if held > NOTED and self.waiting and not ticket.noted:
            ticket.noted = True
            waits = ", ".join(other.work for other in self._line[self.places :])
            logging.getLogger(__name__).warning("%s holds a turn for %.0f s; waiting: %s", ticket.work, held, waits)
