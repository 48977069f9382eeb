"""Long work in the page: a bar by layer, Stop, going on; the check that waits; what local layers and kv heads say."""

from __future__ import annotations

import pytest
import streamlit as st

from inspector.views.shell import progress
from tests.inspector.views.page import EXAMPLE, forget, messages, opened, said, turned

LONGER = "The cat sat on the mat because it was tired. " * 20


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget every recording, and show every bar at once."""
    forget()
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "DRAWN_EVERY", 0.0)


def press_stop(monkeypatch: pytest.MonkeyPatch, *, what: str, at: float) -> list[tuple[str, float]]:
    """The reader presses Stop once, as soon as so many layers of `what` are done; what the bars were told."""
    told: list[tuple[str, float]] = []
    pressed: list[bool] = []
    shown = progress.Bar.draw

    def draw(self: progress.Bar, done: float, total: float, words: str, **more: bool) -> None:
        shown(self, done, total, words, **more)
        told.append((words.partition(":")[0], done))
        if words.startswith(what) and done >= at and not pressed:
            pressed.append(True)
            progress.stop()
            st.rerun()

    monkeypatch.setattr(progress.Bar, "draw", draw)
    return told


@pytest.mark.parametrize(("what", "again"), [("Reading the text", 0), ("Measuring the heads", 6)])
def test_stop_keeps_the_text_and_inspect_goes_on(monkeypatch: pytest.MonkeyPatch, what: str, again: int) -> None:
    told = press_stop(monkeypatch, what=what, at=2)
    app = opened(text=LONGER)
    assert not app.exception
    assert "Stopped" in said(app)
    assert "press Inspect to continue" in said(app)
    assert app.text_area(key="text").value == LONGER
    assert not messages(app, "head")
    assert max(done for name, done in told if name == what) < 3
    reached = len(told)
    turned(app, "Costs")
    assert "press Inspect to continue" in said(app)  # nothing begins again by itself
    assert len(told) == reached
    turned(app, "Attention")
    app.button(key="go on").click().run()
    assert not app.exception
    assert "Stopped" not in said(app)
    assert messages(app, "head")
    assert all(name != "Reading the text" for name, _ in told[reached:]) == (again == 6)  # what was finished is kept


def test_another_text_is_read_after_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    press_stop(monkeypatch, what="Reading the text", at=1)
    app = opened(text=EXAMPLE)
    assert "press Inspect to continue" in said(app)
    app.text_area(key="text").set_value("Another text.").run()
    assert not app.exception
    assert "press Inspect to continue" not in said(app)
    assert messages(app, "head")


def test_the_bar_names_the_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(st, "progress", lambda share, words: lines.append(f"{share:.2f} {words}"))
    with progress.layers("Reading the text") as on_progress:
        on_progress(4.5, 12)
    assert lines == []  # the server's own work, which no visitor waits for
    monkeypatch.setattr(progress, "get_script_run_ctx", lambda suppress_warning: object())
    with progress.layers("Reading the text") as on_progress:
        on_progress(4.5, 12)
    assert lines == ["0.38 Reading the text: layer 5 of 12"]
