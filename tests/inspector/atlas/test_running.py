"""Units of work run once each, here, on processes and on any executor; errors, deaths and stops end a run cleanly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
import pytest

from inspector.atlas.running import run

LONG = 600  # seconds that nothing here waits for


def about(number: int) -> tuple[int, int, str | None, str | None]:
    """The square, and the process that it was computed in with its settings."""
    return number**2, os.getpid(), os.environ.get("OMP_NUM_THREADS"), os.environ.get("MKL_NUM_THREADS")


def fail_at(wrong: int, number: int) -> int:
    if number == wrong:
        raise ValueError(f"block {number} cannot be written (No space left on device)")
    return number


def die_at(wrong: int, number: int) -> int:
    if number == wrong:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def sleep_beside(folder: Path, number: int) -> None:
    """Say which process this is, then sleep."""
    (folder / str(os.getpid())).touch()
    time.sleep(LONG)


class Noted(Executor):
    """Passes calls on to threads, and notes how many are under way at most."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads)
        self._lock = threading.Lock()
        self._now = self.most = self.all = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with self._lock:
            self._now, self.all = self._now + 1, self.all + 1
            self.most = max(self.most, self._now)
        future = self._threads.submit(fn, *args, **kwargs)
        future.add_done_callback(self._ended)
        return future

    def _ended(self, future: Future[Any]) -> None:
        with self._lock:
            self._now -= 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait, cancel_futures=cancel_futures)


def test_one_worker_runs_here_in_order() -> None:
    done: list[tuple[int, Any]] = []
    run(about, [5, 3, 4], on_done=lambda number, found: done.append((number, found)))
    assert [number for number, _ in done] == [5, 3, 4]
    assert [found[:2] for _, found in done] == [(25, os.getpid()), (9, os.getpid()), (16, os.getpid())]


@pytest.mark.heavy
def test_processes_have_one_thread_each_and_run_every_unit_once() -> None:
    before = dict(os.environ)
    done: list[tuple[int, Any]] = []
    run(about, range(30), workers=2, on_done=lambda number, found: done.append((number, found)))
    assert sorted(number for number, _ in done) == list(range(30))
    assert all(found[0] == number**2 for number, found in done)
    processes = {found[1] for _, found in done}
    assert len(processes) <= 2
    assert os.getpid() not in processes
    assert {found[2:] for _, found in done} == {("1", "1")}
    assert not any(psutil.pid_exists(process) for process in processes)
    assert dict(os.environ) == before


@pytest.mark.heavy
def test_an_executor_of_processes_that_a_caller_brings_stays_open() -> None:
    done: list[int] = []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for numbers in (range(5), range(5, 9)):
            run(about, numbers, executor=pool, on_done=lambda number, found: done.append(found[0]))
        with pytest.raises(ValueError, match=r"^block 3 cannot be written \(No space left on device\)$"):
            run(partial(fail_at, 3), range(10_000), executor=pool)
        assert pool.submit(abs, -1).result() == 1
    assert sorted(done) == [number**2 for number in range(9)]


def test_no_more_units_are_handed_over_than_asked_for() -> None:
    executor, done = Noted(3), set[int]()
    with executor:
        run(str, range(200), executor=executor, slots=3, on_done=lambda number, found: done.add(int(found)))
    assert done == set(range(200))
    assert executor.all == 200
    assert 1 < executor.most <= 6


def test_results_are_told_in_the_thread_of_the_caller() -> None:
    threads = set()
    with ThreadPoolExecutor(2) as executor:
        run(str, range(9), executor=executor, on_done=lambda *_: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_an_error_ends_the_run_with_its_own_sentence(threads: int) -> None:
    executor = Noted(threads) if threads else None
    with pytest.raises(ValueError, match=r"^block 7 cannot be written \(No space left on device\)$"):
        run(partial(fail_at, 7), range(10_000), executor=executor, slots=2)
    if executor is not None:
        assert executor.all <= 7 + 4
        executor.shutdown()


def test_what_is_at_work_is_finished_before_an_error_is_raised() -> None:
    both, finished = threading.Barrier(2, timeout=LONG), threading.Event()

    def work(number: int) -> None:
        both.wait()
        if number == 0:
            raise ValueError("first")
        time.sleep(0.2)
        finished.set()

    with ThreadPoolExecutor(2) as executor:
        with pytest.raises(ValueError, match="first"):
            run(work, range(2), executor=executor)
        assert finished.is_set()


@pytest.mark.heavy
def test_a_killed_worker_is_said_and_leaves_no_process() -> None:
    own = psutil.Process()
    before = {child.pid for child in own.children(recursive=True)}
    with pytest.raises(
        ValueError, match=r"a worker died: killed from outside, or out of memory\. What is done is kept"
    ):
        run(partial(die_at, 3), range(20), workers=2)
    assert workers_of(own) <= before


@pytest.mark.parametrize("threads", [0, 2])
def test_stop_begins_nothing_new(threads: int) -> None:
    executor, done = Noted(threads) if threads else None, list[int]()
    run(
        abs, range(10_000), executor=executor, slots=2, stop=lambda: len(done) >= 5, on_done=lambda n, _: done.append(n)
    )
    assert 5 <= len(done) <= 5 + 4
    if executor is not None:
        assert executor.all <= len(done) + 4
        executor.shutdown()


def test_stop_from_the_start_runs_nothing() -> None:
    with Noted(1) as executor:
        run(partial(fail_at, 0), range(3), executor=executor, stop=lambda: True)
        assert executor.all == 0


@pytest.mark.heavy
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_no_process_outlives_a_run_that_is_ended(ending: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C reaches the whole group of a terminal, the processes as well."""
    with started(tmp_path) as script:
        workers = until(lambda: found if len(found := list(tmp_path.iterdir())) == 2 else None)
        if ending is signal.SIGINT:
            os.killpg(script.pid, ending)
        else:
            script.kill()
        script.wait(timeout=LONG)
        assert until(lambda: not any(alive(int(path.name)) for path in workers))


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A script, in a group of its own, that runs two processes which sleep."""
    code = (
        "import sys; from functools import partial; from pathlib import Path\n"
        "from inspector.atlas.running import run; from tests.inspector.atlas.test_running import sleep_beside\n"
        "run(partial(sleep_beside, Path(sys.argv[1])), range(2), workers=2)"
    )
    script = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        cwd=Path(__file__).parents[3],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield script
    finally:
        script.kill()
        script.wait()


def until(found: Callable[[], Any]) -> Any:
    """Wait until something is found; fail after a time that no machine needs."""
    end = time.monotonic() + LONG / 5
    while not (value := found()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return value


def alive(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def workers_of(own: psutil.Process) -> set[int]:
    """The processes below, but for the one of multiprocessing that counts shared memory and ends with its parent."""
    children = own.children(recursive=True)
    return {child.pid for child in children if "resource_tracker" not in " ".join(child.cmdline())}
