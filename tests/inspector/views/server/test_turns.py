"""Long work of many visitors: never more at once than places, slice by slice in the order of asking, behind clicks."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from time import sleep

import pytest

from inspector.views.server import turns as module
from inspector.views.server.turns import Place, Turns
from tests.inspector.views.page import until


class Left(BaseException):
    """The exception that Streamlit raises in the run of a visitor who left."""


class Clock:
    """A clock that moves when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "monotonic", made)
    return made


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def nothing(place: Place | None) -> None:
    pass


def taken(turns: Turns, name: str, tell: Callable[[Place | None], object] = nothing) -> AbstractContextManager[None]:
    return turns.taken(name, work=f"work of {name}", tell=tell, every=0.005)


@pytest.mark.parametrize("places", [1, 3])
def test_no_more_work_at_once_than_there_are_places(places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLICE", 0.0)
    turns, lock, chance = Turns(places), threading.Lock(), random.Random(0)
    now: list[str] = []
    most, done, left = 0, 0, 0

    def at_work(name: str) -> None:
        nonlocal most
        with lock:
            now.append(name)
            most = max(most, len(now))
        sleep(0.0005)
        with lock:
            now.remove(name)

    def visit(name: str) -> None:
        nonlocal done, left
        try:
            with taken(turns, name):
                for _ in range(3):
                    at_work(name)
                    turns.give_way(name, every=0.005)
                with lock:
                    done += 1
                    leaves = chance.random() < 0.3
                if leaves:
                    raise Left
        except Left:
            with lock:
                left += 1

    threads = [started(lambda name=str(number): visit(name)) for number in range(40)]  # type: ignore[misc]
    for thread in threads:
        thread.join(timeout=20)
    assert (most, done, turns.waiting) == (places, 40, 0)
    assert 0 < left < 40
    assert turns._line == []


def test_each_comes_in_turn_and_is_told_its_place_and_what_goes_first() -> None:
    turns, order = Turns(1), []
    told: dict[str, list[Place | None]] = {"a": [], "b": [], "c": []}
    hold = threading.Event()

    def visit(name: str) -> None:
        with taken(turns, name, told[name].append):
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
    assert told["c"][0] == Place(2, ("work of a", "work of b"), None)
    numbers = [place.number for place in told["c"] if place is not None]
    assert numbers == sorted(numbers, reverse=True)
    assert told["b"][-1] is told["c"][-1] is None  # the wait is over


def test_long_work_goes_on_slice_by_slice_in_the_order_of_asking(clock: Clock) -> None:
    turns, order = Turns(1), []
    ready = threading.Event()

    def visit(name: str) -> None:
        with taken(turns, name):
            assert ready.wait(20)
            for _ in range(3):
                order.append(name)
                clock.now += 2 * module.SLICE
                turns.give_way(name, every=0.005)

    threads = []
    for expected, name in enumerate("abc"):
        threads.append(started(lambda name=name: visit(name)))  # type: ignore[misc]
        until(lambda expected=expected: len(turns._line) == expected + 1)  # type: ignore[misc]
    ready.set()
    for thread in threads:
        thread.join(timeout=20)
    assert order == ["a", "b", "c"] * 3


def test_nobody_gives_way_before_a_slice_is_over_or_where_nobody_waits(clock: Clock) -> None:
    turns, came = Turns(1), threading.Event()

    def next_one() -> None:
        with taken(turns, "next"):
            came.set()

    with taken(turns, "first"):
        clock.now += 5 * module.SLICE
        assert not turns.give_way("first")
        clock.now = 0.0
    with taken(turns, "first"):
        started(next_one)
        until(lambda: turns.waiting == 1)
        clock.now += 0.5 * module.SLICE
        assert not turns.give_way("first")
        assert not came.is_set()
        clock.now += module.SLICE
        assert turns.give_way("first", every=0.005)
        assert came.is_set()
    assert not turns.give_way("first")  # who holds no place gives none
    assert turns._line == []


def test_who_waits_is_told_the_seconds_that_the_works_before_were_measured_to_need(clock: Clock) -> None:
    turns = Turns(1)
    told: list[Place | None] = []

    def visit(name: str) -> None:
        with taken(turns, name, told.append if name == "last" else nothing):
            pass

    with taken(turns, "first"):
        clock.now = 10.0
        turns.give_way("first", share=0.5)  # 10 s for a half: 10 s are left, and it looks every 10 s
        waits = [started(lambda: visit("last"))]
        until(lambda: bool(told))
        clock.now = 13.0
        seen = len(told)
        until(lambda: len(told) > seen + 1)
        turns.give_way("first", share=0.999, every=0.005)  # lets the other pass
    for wait in waits:
        wait.join(timeout=20)
    assert {place.seconds for place in told if place is not None} == {10.0, 7.0}


def test_an_estimate_counts_a_slice_of_each_work_before(clock: Clock) -> None:
    turns = Turns(2)
    tickets = [module._Ticket(name, name, nothing, left=left, stretch=stretch) for name, left, stretch in (
        ("a block takes four seconds", 60.0, 4.0), ("half a second is left", 0.5, 0.1), ("waits", 30.0, 0.1),
    )]  # fmt: skip
    turns._line = [*tickets, module._Ticket("asks", "asks", nothing)]
    with turns._moved:
        turns._move()
    clock.now = 0.25
    assert turns._until(3, clock.now) == pytest.approx((3.75 + 0.25 + module.SLICE) / 2)
    tickets[1].left = None
    assert turns._until(3, clock.now) is None  # nobody knows


def test_who_leaves_the_queue_frees_the_place_for_those_behind() -> None:
    turns, hold, came = Turns(1), threading.Event(), threading.Event()

    def leave(place: Place | None) -> None:
        if hold.is_set():
            raise Left

    def impatient() -> None:
        with pytest.raises(Left), taken(turns, "impatient", leave):
            pytest.fail("it had no turn")

    def patient() -> None:
        with taken(turns, "patient"):
            came.set()

    with taken(turns, "first"):
        leaving = started(impatient)
        until(lambda: turns.waiting == 1)
        started(patient)
        until(lambda: turns.waiting == 2)
        hold.set()
        leaving.join(timeout=20)
        assert turns.waiting == 1
        assert not came.is_set()
    assert came.wait(20)


@pytest.mark.parametrize("fault", [Left, ValueError])
def test_work_that_is_stopped_or_fails_in_a_slice_or_between_two_leaves_the_line(
    fault: type[BaseException], clock: Clock
) -> None:
    turns, came = Turns(1), threading.Event()

    def stop(place: Place | None) -> None:
        raise fault

    def other() -> None:
        with taken(turns, "other"):
            came.set()
            until(lambda: stopped.is_set())

    stopped = threading.Event()
    with pytest.raises(fault), taken(turns, "first"):
        raise fault
    assert turns._line == []
    threads: list[threading.Thread] = []

    def stopped_between_two() -> None:
        with taken(turns, "first", stop):
            threads.append(started(other))
            until(lambda: turns.waiting == 1)
            clock.now += 2 * module.SLICE
            turns.give_way("first", every=0.005)  # its place is told, and the reader presses Stop

    with pytest.raises(fault):
        stopped_between_two()
    stopped.set()
    threads[0].join(timeout=20)
    assert came.is_set()
    assert turns._line == []


def test_a_visitor_at_work_does_not_wait_for_herself() -> None:
    turns = Turns(1)
    with taken(turns, "her", pytest.fail), taken(turns, "her", pytest.fail):
        assert turns.waiting == 0
    assert turns._line == []


def test_long_work_pauses_while_another_visitors_click_is_under_way() -> None:
    turns, clicked, drawn = Turns(1), threading.Event(), threading.Event()
    passed: list[bool] = []

    def click() -> None:
        with turns.click("reader"):
            clicked.set()
            drawn.wait(20)

    def work() -> None:
        with taken(turns, "work"):
            clicked.wait(20)
            turns.give_way("work")
            passed.append(drawn.is_set())

    reading, working = started(click), started(work)
    until(lambda: len(turns._line) == 1 and clicked.is_set())
    drawn.set()
    for thread in (reading, working):
        thread.join(timeout=20)
    assert passed == [True]
    assert turns._clicks == {}


def test_the_own_page_and_those_who_wait_are_no_clicks() -> None:
    turns = Turns(1)
    with turns.click("work"), turns.click("waits"), taken(turns, "work"):
        turns._line.append(module._Ticket("waits", "", nothing))
        assert not turns._clicked()
        with turns.click("reader"):
            assert turns._clicked()


def test_long_work_goes_on_beside_clicks_that_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.01)
    turns = Turns(1)
    with turns.click("reader"), taken(turns, "work"):
        turns.give_way("work")
        ticket = turns._line[0]
        resumed = ticket.resumed
        assert ticket.paused >= 0.01
        turns.give_way("work")  # at once: it has not worked since
        assert ticket.resumed == resumed


def test_a_turn_that_is_held_for_long_is_logged_once_with_who_waits(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    turns, told = Turns(1), []  # type: ignore[var-annotated]

    def wait() -> None:
        with taken(turns, "other", told.append):
            pass

    with caplog.at_level(logging.WARNING), taken(turns, "first"):
        waiting = started(wait)
        until(lambda: turns.waiting == 1)
        clock.now = 12.0
        seen = len(told)
        until(lambda: len(told) > seen + 2)
    waiting.join(timeout=20)
    assert [record.getMessage() for record in caplog.records] == [
        "work of first holds a turn for 12 s; waiting: work of other"
    ]


def test_no_place_is_refused() -> None:
    with pytest.raises(ValueError, match="0 places let nobody work"):
        Turns(0)
