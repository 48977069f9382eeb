"""Heads are dropped by a click on the grid, crossed out, and kept in the link."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, redrawn, rests, visit, without_errors


@pytest.fixture
def page(window: Page, server: Server) -> Iterator[Page]:
    with without_errors(window, 1440, 1000) as page:
        page.goto(f"{server.url}/what_if?model=own-decoder&part=Drop+heads&drop=0.2")
        yield page


def test_a_click_crosses_a_head_out_another_takes_that_back_and_a_phone_scrolls_down_alone(page: Page) -> None:
    grid = page.get_by_role("grid").first
    expect(grid.locator("[aria-selected=true]")).to_have_count(1)
    page.get_by_text("of each token's last hidden state").first.wait_for(state="attached")
    rests(page)  # nothing below moves the grid any more
    cell = grid.locator("[data-layer='1'][data-head='3']")
    cell.click()
    expect(cell).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("2 of 8 heads dropped")).to_be_visible()
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query)["drop"] == ["0.2,1.3"])  # kept once the maps are drawn
    cell.press("Enter")
    expect(cell).to_have_attribute("aria-selected", "false")
    expect(page.get_by_text("1 of 8 heads dropped")).to_be_visible()
    with redrawn(page, told='"covered":true'):
        page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_text("of each token's last hidden state").first.wait_for(state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_row_of_chips_is_one_stop_of_tab(page: Page, server: Server) -> None:
    visit(page, server, "/what_if?model=mini-bert")
    group = "document.activeElement.closest('[role=radiogroup], [role=toolbar]')?.ariaLabel ?? null"
    page.get_by_role("radio", name="Hide a token").focus()
    assert page.evaluate(group) == "What changes"
    page.keyboard.press("Tab")
    assert page.evaluate(group) != "What changes"
    page.get_by_role("toolbar", name="Which token is hidden").get_by_role("button").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(group) == "Which token is hidden"
    page.keyboard.press("Tab")
    assert page.evaluate(group) != "Which token is hidden"
