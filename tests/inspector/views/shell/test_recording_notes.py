"""The exactness badge: a short text is checked at once, a long one when the reader asks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import inspector
import models
from inspector import maps, record
from inspector.trace import AttentionRecord, WeightBlock, recompute
from tests.inspector.views.page import forget, opened, pressed, said, uploaded


def test_the_independent_check_of_a_long_text_waits_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()  # no check is remembered
    monkeypatch.setattr(maps, "WHOLE", 8)
    app = opened()
    assert "Recorded, not held" in said(app)
    assert "No second run was made to hold this to: on a long text a second run takes as long" in said(app)
    pressed(app, "independent check")
    assert not app.exception
    assert "Exact on this text, within" in said(app)
    assert [button for button in app.button if button.key == "independent check"] == []


def test_a_short_text_is_checked_at_once() -> None:
    assert "Exact on this text, within" in said(opened())


def test_a_saved_trace_without_its_model_is_recorded_and_not_held(tmp_path: Path) -> None:
    trace = replace(record(models.load("own-encoder"), "The cat sat."), model="somebody/else")
    inspector.save(trace, tmp_path / "t.npz")
    app = uploaded(opened(), (tmp_path / "t.npz").read_bytes())
    assert not app.exception
    assert "Recorded, not held" in said(app)
    assert "the model of this saved trace is not at hand" in said(app)


def test_maps_that_a_second_run_contradicts_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    block = recompute._block

    def wrong(record: AttentionRecord, *given: Any) -> WeightBlock:
        made = block(record, *given)
        return replace(made, weights=made.weights[::-1].copy()) if record.site.layer == 2 else made

    monkeypatch.setattr(recompute, "_block", wrong)
    app = opened()
    assert "Not exact on this text" in said(app)
    assert "contradicts what is shown here: maps of layer 2, head" in said(app)
    monkeypatch.undo()
    forget()  # what was made of the wrong maps
