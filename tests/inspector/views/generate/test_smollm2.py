"""The Generate page with a real model that writes."""

from __future__ import annotations

import json

from tests.inspector.views.page import opened, said


def test_it_writes_paris(smollm2_installed: None) -> None:
    app = opened("Generate", model="smollm2", text="The capital of France is", new_tokens="6")
    assert not app.exception
    assert not app.error
    written = next(e.proto for e in app.get("bidi_component") if e.proto.component_name.endswith("written"))
    assert json.loads(written.json)["tokens"][0] == "ĠParis"
    assert "It is right about what is often written" in said(app)
