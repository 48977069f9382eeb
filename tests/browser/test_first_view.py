"""The first screen: what a reader sees of the default example without scrolling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, rests, without_errors

EVERY = 72  # heads of the default model


@pytest.fixture
def page(window: Page, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Lend the window in the size that the test is parametrized with."""
    with without_errors(window, *request.param) as page:
        yield page


def opened(page: Page, server: Server) -> None:
    page.goto(server.url)
    expect(page.get_by_role("gridcell")).to_have_count(EVERY)
    rests(page)


def lies_within(page: Page, *shown: Locator) -> None:
    """Hold each of these to the window: nothing of it is above, below or beside."""
    size = page.viewport_size
    assert size is not None
    for one in shown:
        expect(one).to_be_visible()
        box = one.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= size["width"], (one, box)
        assert box["y"] + box["height"] <= size["height"], (one, box)


def sentence(page: Page) -> Locator:
    return page.get_by_role("heading", level=2).first


@pytest.mark.parametrize("page", [(1440, 900)], indirect=True)
def test_sentence_grid_map_and_ten_lines_are_seen_at_once(page: Page, server: Server) -> None:
    opened(page, server)
    grid, whole = page.locator(".hl-grid .field"), page.locator(".hl-head .map")
    rows = page.locator(".hl-head .item.query:visible")
    lies_within(page, sentence(page), grid, whole, *(rows.nth(row) for row in range(10)))
    boxes = [place.bounding_box() for place in (grid, whole, page.locator(".hl-head .lines"))]
    assert all(boxes)
    assert [box["x"] for box in boxes if box] == sorted(box["x"] for box in boxes if box)  # side by side, in this order
    assert page.locator(".hl-head").evaluate("(head) => head.scrollWidth - head.clientWidth") <= 0


@pytest.mark.parametrize("page", [(390, 844)], indirect=True)
def test_on_a_phone_the_text_field_and_the_sentence_are_seen_at_once(page: Page, server: Server) -> None:
    opened(page, server)
    lines, grid = page.locator(".hl-head .lines"), page.locator(".hl-grid .field")
    expect(page.get_by_test_id("stMain").get_by_label("Text", exact=True)).to_be_visible()
    rests(page)
    field = page.get_by_test_id("stMain").get_by_label("Text", exact=True)
    lies_within(page, field, sentence(page))
    tops = [place.bounding_box() for place in (field, sentence(page), lines, grid)]
    assert [box["y"] for box in tops if box] == sorted(box["y"] for box in tops if box)
    assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1
