"""A model that mixes tokens without softmax attention: the page says where its maps are, and no page fails."""

from __future__ import annotations

from pathlib import Path

import pytest

import models
from tests.inspector.probe.families import save
from tests.inspector.probe.hybrids import FAMILIES
from tests.inspector.views.page import READING, forget, opened, said


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["mamba", "yoso"])
def test_the_page_says_where_the_maps_are_and_no_page_fails(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(FAMILIES[name], tmp_path)
    loaded = models.load(tmp_path)
    catalogue, load = models.catalogue(), models.load
    monkeypatch.setattr(models, "catalogue", lambda: (*catalogue, loaded.card))
    monkeypatch.setattr(models, "load", lambda id, **how: loaded if id == loaded.card.id else load(id, **how))
    forget()
    for page in READING:
        app = opened(page, model=loaded.card.id, text="the cat sat")
        assert not app.exception, page  # some show another model in its place
        if page == "Attention":
            assert "mixes tokens without softmax attention" in said(app)
    forget()
