"""The width of the window, before the window has told it."""

from __future__ import annotations

import pytest
from streamlit.runtime.context import ContextProxy

from tests.inspector.views.page import opened

DESKTOP = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
ANDROID = DESKTOP.replace("X11; Linux x86_64", "Linux; Android 10; K").replace("Safari", "Mobile Safari")


@pytest.mark.parametrize(("agent", "narrow"), [(DESKTOP, False), (ANDROID, True)])
def test_a_phone_is_drawn_as_one_at_once(agent: str, narrow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ContextProxy, "headers", {"User-Agent": agent})
    app = opened("Lab")  # a page that runs no model
    assert not app.exception
    (width,) = (one.proto for one in app.get("bidi_component") if one.proto.component_name == "headlight_width")
    assert f'"covered": {str(narrow).lower()}' in width.json
