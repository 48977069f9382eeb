"""A model that mixes tokens without softmax attention: Attention shows its maps, and the other pages say so."""

from __future__ import annotations

from pathlib import Path

import pytest

import models
from tests.inspector.probe.families import save
from tests.inspector.probe.hybrids import FAMILIES
from tests.inspector.views.page import READING, forget, messages, opened, said


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["mamba", "mamba2", "yoso"])
def test_attention_shows_the_maps_and_no_page_fails(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(FAMILIES[name], tmp_path, as_drawn=True)
    loaded = models.load(tmp_path)
    catalogue, load = models.catalogue(), models.load
    monkeypatch.setattr(models, "catalogue", lambda: (*catalogue, loaded.card))
    monkeypatch.setattr(models, "load", lambda id, **how: loaded if id == loaded.card.id else load(id, **how))
    forget()
    for page in READING:
        app = opened(page, model=loaded.card.id, text="the cat sat")
        assert not app.exception, page  # some show another model in its place
        if page == "Attention":
            assert "is of a model that looks untrained, so what it reads is chance." in said(app)
            assert said(app).count("Looks untrained") == 2  # in the sidebar, and at the map
            assert len(messages(app, "head")) == len(messages(app, "grid")) == 1
        if page in ("Scores", "Compare"):
            assert "no layer of this model has one" in said(app)
    forget()
