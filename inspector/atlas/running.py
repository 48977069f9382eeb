"""Runs units of work: here, on processes of one torch thread each, or on any executor that a caller brings."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import connection
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_AHEAD = 2  # units that wait for each worker: none is idle, and little is lost where a run ends
_OF_AN_EXECUTOR = 64  # units at once on an executor, which does not say how many workers it has


def run(
    task: Callable[[int], T],
    numbers: Sequence[int],
    *,
    workers: int = 1,
    executor: Executor | None = None,
    on_done: Callable[[int, T], None] | None = None,
    stop: Callable[[], bool] | None = None,
    ahead: int | None = None,
) -> None:
    """Run the task for every number, in any order; what it returns goes to `on_done`, in this thread.

    workers: 1 runs here, more start as many processes, whose main module must be importable (a script calls this below
    `if __name__ == "__main__"`). executor: runs the units in their place. stop: asked between units; True begins
    nothing new and returns once what is at work is done. ahead: units handed over at once, so that memory does not grow
    with the numbers.

    The first error ends the run: what is at work is finished, then the error is raised. Raises ValueError where a
    worker died. Ctrl-C ends the processes at once, and where this process is killed they end too.
    """
    asked = stop or (lambda: False)
    told = on_done or (lambda number, result: None)
    if executor is not None:
        _submit(executor, task, numbers, told, asked, ahead=ahead or _OF_AN_EXECUTOR)
    elif workers == 1:
        for number in numbers:
            if asked():
                return
            told(number, task(number))
    else:
        with _pool(min(workers, max(1, len(numbers)))) as pool:
            _submit(pool, task, numbers, told, asked, ahead=ahead or _AHEAD * workers)


def _submit(
    executor: Executor,
    task: Callable[[int], T],
    numbers: Sequence[int],
    told: Callable[[int, T], None],
    asked: Callable[[], bool],
    *,
    ahead: int,
) -> None:
    coming, at_work = iter(numbers), dict[Future[T], int]()
    try:
        while True:
            while len(at_work) < ahead and not asked() and (number := next(coming, None)) is not None:
                at_work[executor.submit(task, number)] = number
            if not at_work:
                return
            done, _ = wait(at_work, return_when=FIRST_COMPLETED, timeout=1)
            for future in done:
                number = at_work.pop(future)
                if (error := future.exception()) is not None:
                    _finish(at_work)
                    raise error
                told(number, future.result())
            if asked():
                for future in [future for future in at_work if future.cancel()]:
                    del at_work[future]
    except BrokenExecutor as broken:
        raise ValueError(
            "a worker died: killed from outside, or out of memory. What is done is kept; run the same again, with "
            "fewer workers where memory is short"
        ) from broken
    finally:
        for future in at_work:
            future.cancel()


def _finish(futures: Collection[Future[Any]]) -> None:
    """Cancel what waits, and wait for what is at work."""
    wait([future for future in futures if not future.cancel()])


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes afresh, each with one thread: a fork of a process with torch's threads may hang."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)  # children read it before torch is imported
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)
    try:
        yield pool
    except (KeyboardInterrupt, SystemExit):
        for process in list((pool._processes or {}).values()):  # a unit takes seconds; who asked to end does not wait
            process.terminate()
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
