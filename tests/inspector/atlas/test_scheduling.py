"""Units in flight on a cluster that grows and shrinks, on a clock that is not the machine's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from functools import partial
from random import Random
from typing import Any

import pytest

from inspector.atlas.running import LostUnit, run

pytestmark = pytest.mark.heavy

BLOCK_SECONDS = (15.9, 23.1, 21.4, 27.1, 27.9, 38.0, 57.1, 37.4, 38.9, 42.5, 42.2, 44.2, 34.0, 32.2, 28.4, 22.5)
"""CPU seconds of blocks of 512 lines of novels (tests/benchmarks/atlas_memory.py), from which times are drawn."""
A_TURN = 1.0  # virtual seconds between two looks at the cluster
SEED = 20


class VirtualCluster(Executor):
    """Runs units on slots whose number changes with a virtual clock, which goes on when the slots are asked for.

    size: slots at a time. Where the cluster shrinks, the units that began last are lost. busy: the share of slots that
    were at work while no fewer units than slots were left.
    """

    def __init__(self, size: Callable[[float], int], *, units: int) -> None:
        self._size, self._left, self._random = size, units, Random(SEED)
        self._waiting = deque[tuple[Future[Any], Callable[[], Any]]]()
        self._running = dict[Future[Any], tuple[float, Callable[[], Any]]]()
        self.now, self.lost, self.most = 0.0, 0, 0.0
        self._slot_seconds = self._busy_seconds = 0.0

    @property
    def busy(self) -> float:
        return self._busy_seconds / self._slot_seconds

    def slots(self) -> int:
        """Let a turn go by, or as long as it takes until a unit ends; then say how many slots there are."""
        if self._running or self._waiting:
            end, ended = self.now + A_TURN, 0
            while self.now < end or (not ended and self._running):
                ended += self._until(min([end if self.now < end else float("inf"), *self._ends()]))
        return self._size(self.now)

    def _ends(self) -> Iterable[float]:
        return (ends for ends, _ in self._running.values())

    def _until(self, time: float) -> int:
        """Go on to a time at which a unit ends or the turn does; returns how many futures are done."""
        size = self._size(self.now)
        if self._left >= size:
            self._slot_seconds += size * (time - self.now)
            self._busy_seconds += min(len(self._running), size) * (time - self.now)
        self.now = time
        done = [future for future, (ends, _) in self._running.items() if ends <= time]
        for future in done:
            _, call = self._running.pop(future)
            self._left -= 1
            future.set_result(call())
        lost = list(self._running)[self._size(time) :]
        for future in lost:
            del self._running[future]
            future.set_exception(LostUnit("its machine is gone"))
        self.lost += len(lost)
        self._begin()
        return len(done) + len(lost)

    def _begin(self) -> None:
        while self._waiting and len(self._running) < self._size(self.now):
            future, call = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                self._running[future] = self.now + self._random.choice(BLOCK_SECONDS), call

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, partial(fn, *args, **kwargs)))
        self._begin()
        waiting = sum(not future.cancelled() for future, _ in self._waiting)
        self.most = max(self.most, (len(self._running) + waiting) / self._size(self.now))
        return future


def steps(*sizes: int, each: float) -> Callable[[float], int]:
    """So many slots, one size after the other, for so many seconds each; the last one stays."""
    return lambda now: sizes[min(int(now / each), len(sizes) - 1)]


def walk(now: float) -> int:
    """Another number of slots every 40 seconds, from 16 to 1,024."""
    return 2 ** Random(int(now / 40)).randint(4, 10)


@pytest.mark.parametrize(
    ("size", "units"),
    [
        (steps(16, each=1), 400),
        (steps(1024, each=1), 6000),
        (steps(16, 64, 256, 1024, each=60), 8000),
        (steps(1024, 16, 512, each=90), 8000),
        (walk, 8000),
    ],
    ids=["16", "1,024", "grows", "shrinks", "changes"],
)
def test_slots_are_busy_and_at_most_twice_as_many_units_are_in_flight(size: Callable[[float], int], units: int) -> None:
    cluster, done = VirtualCluster(size, units=units), list[int]()
    run(abs, range(units), executor=cluster, on_done=lambda unit, _: done.append(unit), instead=lambda unit, _: [unit])
    assert sorted(done) == list(range(units))
    assert cluster.busy >= 0.9
    assert cluster.most <= 2
    print(f"busy {cluster.busy:.3f}, at most {cluster.most:.2f} x the slots in flight, {cluster.lost:,} units lost")


def test_units_that_wait_are_taken_back_where_the_cluster_shrinks() -> None:
    cluster = VirtualCluster(steps(256, 8, each=30), units=600)
    in_flight = []

    def noted() -> int:
        slots = cluster.slots()
        in_flight.append((len(cluster._running) + sum(not f.cancelled() for f, _ in cluster._waiting), slots))
        return slots

    run(abs, range(600), executor=cluster, slots=noted, instead=lambda unit, _: [unit])
    after = [flying for flying, slots in in_flight if slots == 8]
    assert after[0] > 2 * 8, "the cluster shrank with units in flight"
    assert max(after[1:]) <= 2 * 8


def test_a_pool_of_a_caller_is_asked_for_its_size() -> None:
    from concurrent.futures import ThreadPoolExecutor

    class Counted(ThreadPoolExecutor):
        most = now = 0

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.now += 1
            self.most = max(self.most, self.now)
            return super().submit(fn, *args, **kwargs)

    def ended(pool: Counted) -> Callable[[int, Any], None]:
        def tell(unit: int, _: Any) -> None:
            pool.now -= 1

        return tell

    with Counted(3) as pool:
        run(abs, range(50), executor=pool, on_done=ended(pool))
    assert pool.most == 6
