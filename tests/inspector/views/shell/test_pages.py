"""An address that names no page, and the line that says which page is open."""

from __future__ import annotations

import pytest

from inspector.sections.registry import PAGES
from inspector.views.shell import pages
from tests.inspector.views.page import opened


@pytest.mark.parametrize(
    ("url", "base", "missing"),
    [
        (None, "", False),
        ("http://a:8501", "", False),
        ("http://a:8501/", "", False),
        ("http://a:8501/compare", "", False),
        ("http://a:8501/compare/", "", False),
        ("http://a:8501/attention", "", True),  # the first page has no name
        ("http://a:8501/nosuchpage", "", True),
        ("http://a:8501/foo/compare", "", True),
        ("http://a/head", "head", False),
        ("http://a/head/compare", "/head/", False),
        ("http://a/head/nosuchpage", "head", True),
    ],
)
def test_an_address_is_held_to_the_pages(url: str | None, base: str, missing: bool) -> None:
    assert pages.missing(url, base=base) is missing


def test_every_page_is_in_a_group_once() -> None:
    assert [page for listed in pages.GROUPS.values() for page in listed] == list(PAGES.values())


@pytest.mark.parametrize(("title", "group"), [("Positions", ":gray[Inside the model ·]"), ("Lab", ":gray[Learning ·]")])
def test_the_title_stands_behind_its_group(title: str, group: str) -> None:
    app = opened(title)
    assert app.title[0].value == title
    assert group in [one.value for one in app.markdown]
