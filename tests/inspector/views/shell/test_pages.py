"""An address that names no page, and the line that says which page is open."""

from __future__ import annotations

import pytest

from inspector.sections.registry import PAGES
from inspector.views.shell import pages
from tests.inspector.views.page import opened, pressed, said


def test_an_address_without_a_page_is_said_once_and_leaves_the_address() -> None:
    app = opened(unknown="<img src=x>", layer="2")
    assert "There is no page at this address" in said(app)
    assert "<img" not in said(app)
    assert "unknown" not in app.query_params
    assert app.query_params["layer"] in ("2", ["2"])
    pressed(app, "dismiss")
    assert "There is no page at this address" not in said(app)


def test_every_page_is_in_a_group_once() -> None:
    assert [page for listed in pages.GROUPS.values() for page in listed] == list(PAGES.values())


@pytest.mark.parametrize(
    ("title", "group"), [("Positions", ":small[:gray[Inside the model ·]]"), ("Lab", ":small[:gray[Learning ·]]")]
)
def test_the_title_stands_behind_its_group(title: str, group: str) -> None:
    app = opened(title)
    assert app.title[0].value == title
    assert group in [one.value for one in app.markdown]
