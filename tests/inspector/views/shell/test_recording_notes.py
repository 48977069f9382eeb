"""The exactness badge: a short text is checked at once, a long one when the reader asks."""

from __future__ import annotations

import pytest
import streamlit as st

from inspector import maps
from tests.inspector.views.page import opened, pressed, said


def test_the_independent_check_of_a_long_text_waits_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    st.cache_resource.clear()  # no check is remembered
    monkeypatch.setattr(maps, "WHOLE", 8)
    app = opened()
    assert "Self-checks passed" in said(app)
    assert "Not yet run a second time in torch's fused attention" in said(app)
    pressed(app, "independent check")
    assert not app.exception
    assert "Exact on this text, within" in said(app)
    assert [button for button in app.button if button.key == "independent check"] == []


def test_a_short_text_is_checked_at_once() -> None:
    assert "Exact on this text, within" in said(opened())
