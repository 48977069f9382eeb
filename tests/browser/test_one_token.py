"""One token in all heads, from the first page on: two clicks, or one on its row in the map."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from inspector import one_token, record
from models import LoadedModel
from tests.browser.conftest import Server, rests, until, without_errors

TEXT = "The cat sat on the mat because it was tired."
IT, CAT = 8, 2
PICTURE = "(canvas) => canvas.toDataURL()"
ORDER = "(cells) => cells.map(({ dataset }) => [Number(dataset.layer), Number(dataset.head)])"


@pytest.fixture
def page(window: Page, server: Server) -> Iterator[Page]:
    with without_errors(window, 1440, 900) as page:
        page.goto(server.url)
        expect(page.get_by_role("gridcell")).to_have_count(72)
        rests(page)
        yield page


def test_two_clicks_show_it_in_every_head_and_a_key_sorts_them(page: Page, minilm: LoadedModel) -> None:
    trace = record(minilm, TEXT)
    canvas = page.locator(".hl-grid .field canvas")
    maps = canvas.evaluate(PICTURE)
    page.get_by_role("combobox", name="One token in all heads").click()
    page.get_by_role("option", name="8 it", exact=True).click()
    expect(page).to_have_url(re.compile(r"query=8(&|$)"))
    until(page, lambda: canvas.evaluate(PICTURE) != maps)
    rows = canvas.evaluate(PICTURE)
    assert rows != maps
    expect(page.get_by_text("Beyond its neighbours")).to_be_visible()

    def sorted_by(name: str, shares: np.ndarray) -> None:
        page.locator(".hl-grid select").select_option(name)
        expected = np.argsort(-shares.ravel(), kind="stable")
        places = [list(map(int, divmod(int(place), 12))) for place in expected]
        cells = page.locator(".hl-grid [role=gridcell]")
        until(page, lambda: cells.evaluate_all(ORDER) == places)
        assert cells.evaluate_all(ORDER) == places

    sorted_by("key 2 cat", one_token.gives(trace, IT)[..., CAT])
    expect(page).to_have_url(re.compile(r"sort=key(\+|%20)2"))
    page.get_by_role("radio", name="gets").or_(page.get_by_role("button", name="gets")).first.click()
    expect(page).to_have_url(re.compile("token_side=gets"))
    rests(page)
    sorted_by("query 2 cat", one_token.gets(trace, IT)[..., CAT])


def test_a_click_on_its_row_in_the_map_is_enough(page: Page) -> None:
    canvas = page.locator(".hl-grid .field canvas")
    maps = canvas.evaluate(PICTURE)
    page.locator(".hl-head .left .label", has_text=re.compile("^it$")).click()
    expect(page).to_have_url(re.compile("query=8"))
    until(page, lambda: canvas.evaluate(PICTURE) != maps)
    assert canvas.evaluate(PICTURE) != maps
    page.locator(".hl-head").focus()
    page.keyboard.press("Escape")
    until(page, lambda: canvas.evaluate(PICTURE) == maps)
    assert canvas.evaluate(PICTURE) == maps, "without a pin the grid shows whole maps"
