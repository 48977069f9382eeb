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


def test_a_cut_is_kept_in_the_link_and_the_way_back_forgets_it(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/what_if?model=own-decoder&part=Scissors&writer=head+0.1")
    expect(page.get_by_text("Cutting the edge from layer 0, head 1 into the")).to_be_visible(timeout=60_000)
    keep = page.get_by_role("button", name="Keep this cut")
    keep.focus()
    keep.press("Enter")
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("cuts") == ["head 0.1 -> logit"])
    expect(page.get_by_role("heading", name="Cuts that you kept")).to_be_visible()
    page.go_back()
    expect(keep).to_be_visible()
    expect(page.get_by_role("heading", name="Cuts that you kept")).to_have_count(0)


def test_a_cell_of_a_patch_grid_opens_its_head(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/what_if?model=own-decoder&part=Two+texts&text=The+cat+sat.&corrupted=The+dog+sat.")
    expect(page.get_by_text("Most comes with layer")).to_be_visible(timeout=60_000)
    rests(page)
    grid = page.locator('[data-testid="stMain"] canvas').first
    box = grid.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.1 * box["width"], box["y"] + 0.9 * box["height"])
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("layer") == ["1"])
    assert parse_qs(urlsplit(page.url).query)["head"] == ["0"]
    expect(page.get_by_role("link", name="See what layer 1, head 0 looks at")).to_be_visible()
