"""The sidebar's report: written at a click, there for its own text alone, gone when it is stopped."""

from __future__ import annotations

import pytest

from inspector.views.shell import progress
from tests.inspector.views.page import opened

TEXT = "A fox ran <b>home</b>."


def test_it_is_written_at_a_click_and_belongs_to_its_text() -> None:
    app = opened("Block", text=TEXT)
    app.button("write report").click().run()
    assert not app.exception
    file = app.session_state["report"][1]
    assert file.startswith(b"<!doctype html>")
    assert b"A fox ran &lt;b&gt;home&lt;/b&gt;." in file
    assert [button.key for button in app.get("download_button") if button.key == "download report.html"]
    app.text_area("text").set_value("Another fox.").run()
    assert [button.key for button in app.get("download_button") if button.key == "download report.html"] == []


def test_a_stopped_one_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened("Block", text=TEXT)

    def stopped(bar: progress.Bar, done: float, total: float, words: str, *, now: bool = False) -> None:
        if done == 2:
            raise ValueError("stopped")

    monkeypatch.setattr(progress.Bar, "draw", stopped)
    app.button("write report").click().run()
    assert not app.exception
    assert "report" not in app.session_state
