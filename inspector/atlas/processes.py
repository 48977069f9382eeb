"""Processes of one torch thread each, as an executor: the death of one ends the call that it was at, and no other."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection
from threading import Thread
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64",  # not 1,024 kernels, one for each shape of a batch
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # which gives freed memory back when glibc does
}
"""Variables of a worker, which are read before torch and Arrow are imported."""


class Processes(Executor):
    """Runs a call in each of its processes at a time; a process that died is replaced with the next call.

    Each process is a pool of its own: a pool of several gives up all its calls when one of its processes dies, and does
    not say which of them it was.
    """

    def __init__(self, count: int) -> None:
        """Begin without a process: each starts with its first call."""
        self._pools: list[ProcessPoolExecutor | None] = [None] * count
        self._calls: list[Future[Any] | None] = [None] * count

    def slots(self) -> int:
        """Count the calls that run at once."""
        return len(self._pools)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a call to a process that is free, else to the first, behind its own."""
        free = (place for place, call in enumerate(self._calls) if call is None or call.done())
        place = next(free, 0)
        pool = self._pools[place]
        try:
            future = (pool or self._renewed(place)).submit(fn, *args, **kwargs)
        except BrokenExecutor:
            future = self._renewed(place).submit(fn, *args, **kwargs)
        self._calls[place] = future
        return future

    def _renewed(self, place: int) -> ProcessPoolExecutor:
        """Start a process afresh: a fork of a process with torch's threads may hang."""
        if (broken := self._pools[place]) is not None:
            broken.shutdown(wait=False)
        pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)
        self._pools[place] = pool
        return pool

    def terminate(self) -> None:
        """End every process at once, in the middle of its call."""
        for pool in self._pools:
            for process in list(((pool and pool._processes) or {}).values()):
                process.terminate()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; wait for those at work."""
        for pool in self._pools:
            if pool is not None:
                pool.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def processes(count: int) -> Iterator[Processes]:
    """Give so many processes; an interrupt inside the block ends them at once, for a unit takes seconds."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)  # children read them before torch is imported
    pool = Processes(count)
    try:
        yield pool
    except (KeyboardInterrupt, SystemExit):
        pool.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _begin() -> None:
    """Set up a worker: Ctrl-C, which reaches it too, is its parent's to answer; and it outlives no parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
