"""The process's own values: made once, and nobody's message to Streamlit clears them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import streamlit as st

from inspector.views.server import queue
from inspector.views.server.shared import Shared
from inspector.views.shell import caching, model_shelf


def test_it_is_made_once_for_all_threads() -> None:
    made: list[object] = []
    together = Barrier(8)

    @Shared
    def value() -> object:
        made.append(object())
        return made[-1]

    def ask(_: int) -> object:
        together.wait(20)
        return value()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {made[0]}
    assert len(made) == 1
    value.forget()
    assert value() is made[1]


def test_what_cannot_be_made_is_tried_again() -> None:
    answers = iter([ValueError("HEADLIGHT_X is 'a'"), 7])

    @Shared
    def value() -> int:
        answer = next(answers)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    with pytest.raises(ValueError, match="HEADLIGHT_X"):
        value()
    assert value() == 7


def test_a_visitor_who_clears_streamlits_caches_clears_no_model_no_result_and_no_queue() -> None:
    def kept() -> list[object]:
        return [model_shelf.shelf(), caching.results(), queue.turns(), queue.loads()]

    before = kept()
    caching.cached("a result", lambda: "kept")
    st.cache_resource.clear()  # what Streamlit does at a clear_cache message
    st.cache_data.clear()
    assert all(one is other for one, other in zip(kept(), before, strict=True))
    assert caching.cached("a result", lambda: "made anew") == "kept"
