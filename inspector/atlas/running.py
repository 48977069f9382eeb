"""Runs units of work: here, on processes of one torch thread each, or on any executor that a caller brings.

As many units are handed over as the executor has slots, and as many wait there, so that no slot is idle; the slots are
asked for anew all the time, for a cluster grows and shrinks. A unit that fails, or whose worker dies, is run a second
time. Then the caller says what is run in its place (`aside` splits it), or the run ends.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, ParamSpec, TypeVar

from inspector.atlas.processes import Processes, processes

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U", bound=Hashable)

_TRIES = 2  # of a unit: what fails once may have met a machine that died
_A_SLOT = 2  # units handed over for each slot: one at work, and the next
_UNKNOWN = 64  # slots of an executor that does not say how many it has
_IN_A_ROW = 16  # failures without a success between them, beside all that were at work at once: no fault of a unit
_TURN = 1.0  # seconds, at most, until slots and `stop` are asked again

_DIED = "a worker died: killed from outside, or out of memory"
_GO_ON = "What is done is kept; run the same again, with fewer workers where memory is short"


class UnitError(Exception):
    """A failure of a task that its unit may be the reason of, so that other units are run all the same."""


class LostUnit(BrokenExecutor):
    """A unit whose worker is gone, of an executor that goes on; the message says what became of the worker."""


def run(
    task: Callable[[U], T],
    units: Iterable[U],
    *,
    workers: int = 1,
    executor: Executor | None = None,
    slots: int | Callable[[], int] | None = None,
    on_done: Callable[[U, T], Iterable[U] | None] | None = None,
    instead: Callable[[U, str], Iterable[U]] | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Run the task for every unit, in any order; what it returns goes to `on_done`, in this thread.

    workers: 1 runs here, more start as many processes, whose main module must be importable (a script calls this below
    `if __name__ == "__main__"`). executor: runs the units in their place. slots: how many units the executor runs at
    once, a number or a function that is asked again and again; None asks the executor. At most twice as many are handed
    over, so that memory does not grow with the units.
    on_done: may return further units. instead: called with a unit that raised UnitError, or lost its worker, twice, and
    the reason; returns the units to run in its place, or raises what ends the run. None ends the run.
    stop: asked between units; True begins nothing new and returns once what is at work is done.

    Any other error ends the run: what is at work is finished, then the error is raised. Raises ValueError where a unit
    failed twice and nothing stands in its place, and where so many fail in a row that it is no fault of theirs.
    Ctrl-C ends the processes at once, and where this process is killed they end too.
    """
    with _executor(executor, workers) as chosen:
        here = isinstance(chosen, Processes | _Here)
        _Run(
            task,
            units,
            chosen,
            slots=_slots(chosen, slots),
            a_slot=1 if here else _A_SLOT,  # the next unit is at hand at once, and a death is one unit's
            on_done=on_done or (lambda unit, result: None),
            instead=instead,
            stop=stop or (lambda: False),
        ).through()


def _executor(executor: Executor | None, workers: int) -> AbstractContextManager[Executor]:
    if executor is not None:
        return nullcontext(executor)
    return processes(workers) if workers > 1 else nullcontext(_Here())


def _slots(executor: Executor, given: int | Callable[[], int] | None) -> Callable[[], int]:
    """The function that says how many units run at once: the caller's, the executor's own, or a pool's size."""
    own = getattr(executor, "slots", None)
    size: int | Callable[[], int] = getattr(executor, "_max_workers", _UNKNOWN) if own is None else own
    chosen = size if given is None else given
    return chosen if callable(chosen) else lambda: chosen


class _Here(Executor):
    """Runs a call at once, in this thread."""

    def slots(self) -> int:
        return 1

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # the future's, as with every executor
            future.set_exception(error)
        return future


class _Run(Generic[U, T]):
    """The units of a run: those to come, those to run again, and those at work."""

    def __init__(
        self,
        task: Callable[[U], T],
        units: Iterable[U],
        executor: Executor,
        *,
        slots: Callable[[], int],
        a_slot: int,
        on_done: Callable[[U, T], Iterable[U] | None],
        instead: Callable[[U, str], Iterable[U]] | None,
        stop: Callable[[], bool],
    ) -> None:
        self._task, self._executor, self._slots, self._a_slot = task, executor, slots, a_slot
        self._on_done, self._instead, self._stop = on_done, instead, stop
        self._coming = iter(units)
        self._again = deque[U]()
        self._at_work = dict[Future[T], U]()  # in the order in which they were handed over
        self._failures = Counter[U]()
        self._in_a_row = 0
        self._largest = 0  # units at work at once, so far: as many are lost together where a cluster shrinks

    def through(self) -> None:
        """Run all units, or stop."""
        stopped = False
        try:
            while True:
                most = self._a_slot * max(1, self._slots())
                stopped = stopped or self._stop()
                self._take_back(0 if stopped else most)
                while not stopped and len(self._at_work) < most and (unit := self._next()) is not None:
                    self._at_work[self._executor.submit(self._task, unit)] = unit
                if not self._at_work:
                    return
                self._largest = max(self._largest, len(self._at_work))
                done, _ = wait(self._at_work, return_when=FIRST_COMPLETED, timeout=_TURN)
                for future in done:
                    self._again.extend(self._answer(future) or ())
        except BrokenExecutor as broken:  # the caller's pool, which takes no more units
            raise ValueError(f"{_DIED}. {_GO_ON}") from broken
        except Exception:
            wait([future for future in self._at_work if not future.cancel()])
            raise
        finally:
            for future in self._at_work:
                future.cancel()

    def _next(self) -> U | None:
        return self._again.popleft() if self._again else next(self._coming, None)

    def _take_back(self, most: int) -> None:
        """Take the newest units back, as far as they have not begun, where more are handed over than may be."""
        for future in list(self._at_work)[most:][::-1]:
            if future.cancel():
                self._again.appendleft(self._at_work.pop(future))

    def _answer(self, future: Future[T]) -> Iterable[U] | None:
        """Take a unit's result, or raise its error; returns the units that follow from it."""
        unit, error = self._at_work.pop(future), future.exception()
        if error is None:
            self._in_a_row = 0
            self._failures.pop(unit, None)
            return self._on_done(unit, future.result())
        if not isinstance(error, UnitError | BrokenExecutor):
            raise error
        reason = str(error) if isinstance(error, UnitError | LostUnit) else _DIED
        go_on = "" if isinstance(error, UnitError) else f". {_GO_ON}"
        self._failures[unit] += 1
        self._in_a_row += 1
        if self._in_a_row > _IN_A_ROW + self._largest:
            raise ValueError(f"{self._in_a_row} units failed one after the other, the last one: {reason}{go_on}")
        if self._failures[unit] < _TRIES:
            return [unit]
        if self._instead is None:
            raise ValueError(f"{reason}{go_on}")
        return self._instead(unit, reason)
