"""The visitors' queue on the page: the place is said, and a visitor who goes gives it back."""

from __future__ import annotations

import threading
from time import sleep

import pytest
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from inspector.views.server import queue
from inspector.views.server.turns import Turns


def page() -> None:
    import streamlit as st

    from inspector.views.server import queue

    with queue.turn("The training"):
        st.text("trained")


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    made = Turns(1)
    monkeypatch.setattr(queue, "turns", lambda: made)
    return made


def test_the_work_begins_at_once_where_a_place_is_free(turns: Turns) -> None:
    app = AppTest.from_function(page).run()
    assert ([text.value for text in app.text], len(app.info), turns._line) == (["trained"], 0, [])


def test_a_visitor_waits_and_comes_in_turn(turns: Turns) -> None:
    begun, seen = threading.Event(), threading.Event()

    def hold() -> None:
        with turns.taken("another", tell=lambda place: None):
            begun.set()
            for _ in range(4000):
                if turns.waiting:
                    seen.set()
                    return
                sleep(0.005)

    other = threading.Thread(target=hold)
    other.start()
    begun.wait(20)
    app = AppTest.from_function(page).run(timeout=30)
    other.join(timeout=20)
    assert seen.is_set()
    assert ([text.value for text in app.text], len(app.info), turns._line) == (["trained"], 0, [])


def test_the_place_is_said_and_free_when_the_run_is_ended(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    def place(ticket: object, seconds: float, places: list[int] = [3, 2]) -> int:  # noqa: B006
        if not places:
            raise StopException  # as Streamlit does at its next call, once the visitor has left
        return places.pop(0)

    monkeypatch.setattr(turns, "_place", place)
    app = AppTest.from_function(page).run()
    assert app.info[0].value.startswith("The training waits for other visitors: you are number 2 in the queue.")
    assert (len(app.text), turns._line) == (0, [])


@pytest.mark.parametrize(("text", "cores", "many"), [("", 1, 1), ("", 2, 1), (" ", 16, 8), ("3", 2, 3)])
def test_how_many_work_at_once(text: str, cores: int, many: int) -> None:
    assert queue.places(text, cores=cores) == many


@pytest.mark.parametrize("text", ["0", "-1", "two", "１", "1000"])
def test_a_number_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"HEADLIGHT_TURNS is .*; write a whole number"):
        queue.places(text, cores=2)
