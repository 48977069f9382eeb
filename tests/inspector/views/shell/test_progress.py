"""Long work in the page: a bar by layer, Stop, going on; the check that waits; what local layers and kv heads say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from inspector import maps
from inspector.trace import AttentionSite
from inspector.views.shell import progress, site_words

ROOT = Path(__file__).parents[4]
TEXT = "The cat sat on the mat because it was tired."
LONGER = "The cat sat on the mat because it was tired. " * 20


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is recorded yet, and every bar is shown at once."""
    st.cache_resource.clear()
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "DRAWN_EVERY", 0.0)


def opened(text: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "inspector/views/shell/frame.py"), default_timeout=200)
    app.query_params["text"] = text
    return app.run()


def said(app: AppTest) -> str:
    return "\n".join(str(element.value) for element in [*app.text, *app.markdown, *app.caption])


def press_stop(monkeypatch: pytest.MonkeyPatch, *, what: str, at: float) -> list[tuple[str, float]]:
    """The reader presses Stop once, as soon as so many layers of `what` are done; what the bars were told."""
    told: list[tuple[str, float]] = []
    pressed: list[bool] = []
    shown = progress.Bar.__call__

    def call(self: progress.Bar, done: float, layers: int) -> None:
        shown(self, done, layers)
        told.append((self.what, done))
        if self.what == what and done >= at and not pressed:
            pressed.append(True)
            progress.stop()
            st.rerun()

    monkeypatch.setattr(progress.Bar, "__call__", call)
    return told


@pytest.mark.parametrize(("what", "again"), [("Reading the text", 0), ("Measuring the heads", 6)])
def test_stop_keeps_the_text_and_inspect_goes_on(monkeypatch: pytest.MonkeyPatch, what: str, again: int) -> None:
    told = press_stop(monkeypatch, what=what, at=2)
    app = opened(LONGER)
    assert not app.exception
    assert "Stopped" in said(app)
    assert "Your text is kept" in said(app)
    assert app.text_area(key="text").value == LONGER
    assert not app.get("bidi_component")
    assert max(done for name, done in told if name == what) < 3
    reached = len(told)
    app.switch_page("../costs.py").run()
    assert "Your text is kept" in said(app)  # nothing begins again by itself
    assert len(told) == reached
    app.switch_page("../attention/page.py").run()
    app.button(key="go on").click().run()
    assert not app.exception
    assert "Stopped" not in said(app)
    assert len(app.get("bidi_component")) == 2
    assert all(name != "Reading the text" for name, _ in told[reached:]) == (again == 6)  # what was finished is kept


def test_another_text_is_read_after_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    press_stop(monkeypatch, what="Reading the text", at=1)
    app = opened(TEXT)
    assert "Your text is kept" in said(app)
    app.text_area(key="text").set_value("Another text.").run()
    assert not app.exception
    assert "Your text is kept" not in said(app)
    assert len(app.get("bidi_component")) == 2


def test_the_bar_names_the_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    place = type("Place", (), {"container": st.container})()
    monkeypatch.setattr(st, "progress", lambda share, line: lines.append(f"{share:.2f} {line}"))
    bar = progress.Bar(place, "Reading the text")
    bar(4.5, 12)
    assert lines == ["0.38 Reading the text: layer 5 of 12"]


def test_the_independent_check_of_a_long_text_waits_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "WHOLE", 8)
    app = opened(TEXT)
    assert "Self-checks passed" in said(app)
    assert "Not yet run a second time in torch's fused attention" in said(app)
    app.button(key="independent check").click().run()
    assert not app.exception
    assert "Exact on this text, within" in said(app)
    assert [button for button in app.button if button.key == "independent check"] == []


def test_a_short_text_is_checked_at_once() -> None:
    assert "Exact on this text, within" in said(opened(TEXT))


def test_a_long_text_has_readable_pictures_and_says_their_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "WHOLE", 8)
    app = opened(TEXT)
    assert "All share one colour scale, from 0 to" in said(app)
    assert "by square root" in said(app)
    app.toggle(key="linear").set_value(True).run()
    assert "by square root" not in said(app)


def site(stream: str, *, kv_heads: int, window: int | None) -> AttentionSite:
    tokens = tuple("abcd")
    return AttentionSite(stream, 3, 8, tokens, tokens, kv_heads=kv_heads, window=window)


def test_kv_heads_and_windows_in_words() -> None:
    plain, grouped = site("encoder", kv_heads=8, window=None), site("decoder", kv_heads=2, window=None)
    assert site_words.cards(plain, 5) == []
    assert site_words.in_title(plain, 5) == ""
    assert site_words.notes([plain], [["other"] * 8]) == [["other"] * 8]
    assert site_words.sharing(grouped, 5) == "kv head 1 of 2, shared by heads 4 to 7"
    assert site_words.sharing(site("decoder", kv_heads=4, window=None), 5) == "kv head 2 of 4, shared by heads 4 and 5"
    assert [card[:2] for card in site_words.cards(grouped, 5)] == [("KV head", "1 of 2")]


@pytest.mark.parametrize(("stream", "words"), [("encoder", "2 tokens to each side"), ("decoder", "the last 3 tokens")])
def test_a_window_is_said_as_the_mask_has_it(stream: str, words: str) -> None:
    """WindowMask(width=3): a query sees keys less than 3 tokens away."""
    import torch

    from models.attention.masks import WindowMask

    seen = WindowMask(9, 3).rows(4, 5)[0, 0, 0]
    assert int(seen[5:].sum()) == 2
    assert int(seen[:5].sum()) == 3
    assert torch.equal(seen, torch.from_numpy(np.abs(np.arange(9) - 4) < 3))
    local = site(stream, kv_heads=8, window=3)
    assert site_words.reach(local).startswith(words)
    assert site_words.layer_names([local]) == ["layer 3 local"]
    assert site_words.in_title(local, 0) == ", local"
