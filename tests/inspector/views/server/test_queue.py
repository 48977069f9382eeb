"""The visitors' queues on the page: the place is said, who goes gives it back, and loading waits for no long work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from streamlit.runtime.scriptrunner import StopException
from streamlit.testing.v1 import AppTest

from inspector.views.server import queue, turns
from inspector.views.server.shared import Shared
from inspector.views.server.turns import Place, Turns
from tests.inspector.views.page import forget, until


def page() -> None:
    import streamlit as st

    from inspector.views.server import queue

    with queue.turn("The training"):
        st.text("trained")


def page_that_loads() -> None:
    import streamlit as st

    from inspector.views.server import queue

    with queue.loading("Loading the model"):
        st.text("loaded")


def page_of_a_model_and_a_variant() -> None:
    import streamlit as st

    from inspector.views.shell import loaded_models

    for id in ("own-decoder", "own-decoder?scale=none"):
        st.text(loaded_models.load(id).card.id)


def page_with_a_bar() -> None:
    import streamlit as st

    from inspector.views.shell import progress

    bar = progress.Bar(stop="stop", at_once=False)
    with bar.turn("Writing"):
        for token in range(3):
            bar.draw(token, 3, f"{token} tokens", now=True)
    st.text("written")


def page_that_fails() -> None:
    from inspector.views.server import queue

    with queue.turn("The training"):
        raise ValueError("diverged")


@pytest.fixture
def long_work(monkeypatch: pytest.MonkeyPatch) -> Turns:
    made = Turns(1)
    monkeypatch.setattr(queue, "turns", Shared(lambda: made))
    return made


@contextmanager
def another_works(line: Turns, *, while_: Callable[[], bool]) -> Iterator[None]:
    """Another visitor's atlas, which takes the place until `while_` is no longer true."""
    begun = threading.Event()

    def hold() -> None:
        with line.taken("another", work="Building an atlas", tell=pytest.fail):
            begun.set()
            until(lambda: not while_())

    other = threading.Thread(target=hold)
    other.start()
    assert begun.wait(20)
    yield
    other.join(timeout=20)


def texts(app: AppTest) -> list[str]:
    return [text.value for text in app.text]


def test_the_work_begins_at_once_where_a_place_is_free(long_work: Turns) -> None:
    app = AppTest.from_function(page).run(timeout=60)
    assert (texts(app), len(app.info), long_work._line) == (["trained"], 0, [])


def test_a_visitor_waits_and_comes_in_turn(long_work: Turns) -> None:
    with another_works(long_work, while_=lambda: not long_work.waiting):
        app = AppTest.from_function(page).run(timeout=60)
    assert (texts(app), len(app.info), long_work._line) == (["trained"], 0, [])


def test_a_model_is_loaded_while_long_work_goes_on(long_work: Turns) -> None:
    loaded = threading.Event()
    with another_works(long_work, while_=lambda: not loaded.is_set()):
        app = AppTest.from_function(page_that_loads).run(timeout=60)
        loaded.set()
    assert (texts(app), len(app.info)) == (["loaded"], 0)


def test_the_page_s_models_and_switches_are_loaded_while_long_work_goes_on(long_work: Turns) -> None:
    forget()
    loaded = threading.Event()
    with another_works(long_work, while_=lambda: not (loaded.is_set() or long_work.waiting)):
        app = AppTest.from_function(page_of_a_model_and_a_variant).run(timeout=60)
        assert long_work._line, "neither waited for the other's work to end"
        loaded.set()
    assert (texts(app), len(app.info)) == (["own-decoder", "own-decoder?scale=none"], 0)


def test_those_who_load_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Turns(1)
    monkeypatch.setattr(queue, "loads", Shared(lambda: line))
    with another_works(line, while_=lambda: not line.waiting):
        app = AppTest.from_function(page_that_loads).run(timeout=60)
    assert texts(app) == ["loaded"]


def test_the_place_is_said_and_free_when_the_run_is_ended(long_work: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [Place(3, ("Building an atlas", "Writing"), None), Place(2, ("Building an atlas",), 11.6)]

    def place(ticket: object, seconds: float) -> Place:
        if not places:
            raise StopException  # as Streamlit does at its next call, once the visitor has pressed Stop or left
        return places.pop(0)

    monkeypatch.setattr(long_work, "_place", place)
    app = AppTest.from_function(page).run(timeout=60)
    assert app.info[0].value == (
        "The training waits for other visitors: you are number 2 in the queue, for about 12 s. First: Building an "
        "atlas. A change or another page gives up your place."
    )
    assert (len(app.text), long_work._line) == (0, [])


def test_who_waits_behind_a_bar_reads_the_place_there_and_can_stop(
    long_work: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    def place(ticket: object, seconds: float, seen: list[int] = []) -> Place:  # noqa: B006
        if seen:
            raise StopException
        seen.append(1)
        return Place(1, ("Building an atlas",), None)

    monkeypatch.setattr(long_work, "_place", place)
    app = AppTest.from_function(page_with_a_bar).run(timeout=60)
    assert app.get("progress")[0].proto.text.startswith("Writing waits for other visitors: you are number 1")
    assert [button.label for button in app.button] == ["Stop"]
    assert (texts(app), long_work._line) == ([], [])


def test_a_bar_gives_the_turn_back_between_the_pieces(long_work: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SLICE", 0.0)
    shares: list[float] = []
    usual = long_work.give_way

    def seen(visitor: str, *, share: float) -> bool:
        shares.append(share)
        return usual(visitor, share=share)

    monkeypatch.setattr(long_work, "give_way", seen)
    app = AppTest.from_function(page_with_a_bar).run(timeout=60)
    assert (shares, texts(app)) == ([0.0, 1 / 3, 2 / 3], ["written"])


def test_work_that_fails_frees_the_turn(long_work: Turns) -> None:
    app = AppTest.from_function(page_that_fails).run(timeout=60)
    assert len(app.exception) == 1
    assert long_work._line == []


def page_that_draws() -> None:
    import streamlit as st

    from inspector.views.server import queue
    from inspector.views.shell import boundary

    with boundary.drawn("This page"):
        st.text(str(sum(queue.turns()._clicks.values())))


def test_drawing_a_page_is_a_click_for_which_long_work_pauses(long_work: Turns) -> None:
    assert texts(AppTest.from_function(page_that_draws).run(timeout=60)) == ["1"]
    assert long_work._clicks == {}


def page_of_large_work() -> None:
    from time import thread_time

    from inspector.views.server import queue
    from inspector.views.shell import boundary

    with boundary.drawn("This page"), queue.turn("The training"):
        began = thread_time()
        while thread_time() - began <= queue.LARGE:
            pass


@pytest.mark.parametrize(("run", "released"), [(page_of_large_work, 1), (page, 0)])
def test_what_a_large_work_freed_is_given_back_once_nobody_else_computes(
    run: Callable[[], None], released: int, long_work: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[bool] = []
    monkeypatch.setattr(queue.process_settings, "release_memory", lambda: calls.append(True))
    queue._freed.clear()
    with long_work.click("another reader"):
        AppTest.from_function(run).run(timeout=60)
        assert calls == []
    AppTest.from_function(page_that_draws).run(timeout=60)
    assert len(calls) == released
