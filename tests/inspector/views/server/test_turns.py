"""Heavy work of many visitors: never more at once than places, in the order of asking, and nobody's place is lost."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from time import sleep

import pytest

from inspector.views.server.turns import Turns
from tests.inspector.views.page import until


class Left(BaseException):
    """The exception that Streamlit raises in the run of a visitor who left."""


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("places", [1, 3])
def test_no_more_work_at_once_than_there_are_places(places: int) -> None:
    turns, lock, chance = Turns(places), threading.Lock(), random.Random(0)
    now: list[int] = []
    most, done, left = 0, 0, 0

    def visit(name: int) -> None:
        nonlocal most, done, left
        try:
            with turns.taken(name, tell=lambda place: None, every=0.001):
                with lock:
                    now.append(name)
                    most = max(most, len(now))
                sleep(0.0005)
                with lock:
                    now.remove(name)
                    done += 1
                    leaves = chance.random() < 0.3
                if leaves:
                    raise Left
        except Left:
            with lock:
                left += 1

    threads = [started(lambda name=name: visit(name)) for name in range(60)]  # type: ignore[misc]
    for thread in threads:
        thread.join(timeout=20)
    assert (most, done, turns.waiting) == (places, 60, 0)
    assert 0 < left < 60
    assert turns._line == []


def test_each_comes_in_turn_and_is_told_its_place() -> None:
    turns, order, told = Turns(1), [], {"a": [], "b": [], "c": []}  # type: ignore[var-annotated]
    hold = threading.Event()

    def visit(name: str) -> None:
        with turns.taken(name, tell=told[name].append, every=0.005):
            order.append(name)
            hold.wait(20)

    threads = []
    for expected, name in enumerate("abc"):
        threads.append(started(lambda name=name: visit(name)))  # type: ignore[misc]
        until(lambda expected=expected: len(turns._line) == expected + 1)  # type: ignore[misc]
    until(lambda: bool(told["c"]))
    hold.set()
    for thread in threads:
        thread.join(timeout=20)
    assert order == ["a", "b", "c"]
    assert told["a"] == []
    assert set(told["b"]) == {1}
    assert told["c"][0] == 2
    assert told["c"] == sorted(told["c"], reverse=True)


def test_who_leaves_the_queue_frees_the_place_for_those_behind() -> None:
    turns, hold, came = Turns(1), threading.Event(), threading.Event()

    def leave(place: int) -> None:
        if hold.is_set():
            raise Left

    def impatient() -> None:
        with pytest.raises(Left), turns.taken("impatient", tell=leave, every=0.005):
            pytest.fail("it had no turn")

    def patient() -> None:
        with turns.taken("patient", tell=lambda place: None, every=0.005):
            came.set()

    with turns.taken("first", tell=lambda place: None):
        leaving = started(impatient)
        until(lambda: turns.waiting == 1)
        started(patient)
        until(lambda: turns.waiting == 2)
        hold.set()
        leaving.join(timeout=20)
        assert turns.waiting == 1
        assert not came.is_set()
    assert came.wait(20)


def test_a_visitor_at_work_does_not_wait_for_herself() -> None:
    turns = Turns(1)
    with turns.taken("her", tell=pytest.fail), turns.taken("her", tell=pytest.fail):
        assert turns.waiting == 0
    assert turns._line == []


def test_no_place_is_refused() -> None:
    with pytest.raises(ValueError, match="0 places let nobody work"):
        Turns(0)
