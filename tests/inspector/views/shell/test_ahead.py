"""Work that begins with the server: the first visitor finds it done, or waits for it before the page's frame."""

from __future__ import annotations

import logging
import threading

import pytest
from streamlit.testing.v1 import AppTest

from inspector import probe
from inspector.views.shell import ahead
from tests.inspector.views.page import FRAME, forget, opened, said


def test_the_first_visitor_finds_the_text_read(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    monkeypatch.setattr(ahead, "_workers", [])
    ahead.begin()
    ahead._workers[0].join(120)
    monkeypatch.setattr(probe, "record", lambda *_, **__: pytest.fail("the text is read again"))
    app = opened()
    assert not app.exception
    assert "Exact on this text" in said(app)


def test_the_start_prints_no_warning_that_nobody_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger(ahead._ASKED)
    monkeypatch.setattr(logger, "filters", [])
    monkeypatch.setattr(ahead, "_workers", [])
    ahead.begin()
    ahead._workers[0].join(120)
    record = logging.LogRecord(logger.name, logging.WARNING, "", 0, "no context", (), None)
    for thread, passes in ((ahead.NAME, False), ("ScriptRunner.scriptThread", True)):
        record.threadName = thread
        assert bool(logger.filter(record)) == passes


def test_a_visitor_who_comes_early_sees_the_frame_and_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    worker = threading.Thread(target=lambda: None)
    monkeypatch.setattr(worker, "is_alive", lambda: not seen)
    monkeypatch.setattr(worker, "join", lambda seconds: seen.append("waited"))
    monkeypatch.setattr(ahead, "_workers", [worker])
    app = AppTest.from_file(str(FRAME), default_timeout=120).run()
    assert seen == ["waited"]
    assert [title.value for title in app.title] == ["Attention"]
    assert "Exact on this text" in said(app)


def test_what_fails_ahead_is_left_to_the_visitors_own_try(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()

    def gone(id: str) -> None:
        raise ValueError(f"The weights of {id} are gone.")

    monkeypatch.setattr("models.fetch.folder", gone)
    ahead._prepare()
    assert "The weights of minilm are gone." in said(opened(text="A cat."))
    forget()
