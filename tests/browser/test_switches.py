"""The switches in a real Chromium: one matrix for queries and keys on side A, two on B, set in the panel and linked."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, redrawn, rests, without_errors
from tests.browser.drawing import frame

PATH = "/scores?model=mini-bert&section=Queries+and+keys&text=The+cat+sat+on+the+mat."
NUMBER = r"(\d[\d.e−-]*\d|\d)"


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    with without_errors(window, 1440, 1400) as page:  # tall: a panel that scrolls closes the list of a field
        yield page


def asymmetries(page: Page) -> dict[str, list[float]]:
    """Read what the page says of S and of A on either side."""
    main = page.get_by_test_id("stMain")
    beside = main.get_by_text(re.compile("^Side B: Layer"))
    expect(beside).to_be_visible()
    words = {"A": main.get_by_text(re.compile(r"has symmetric scores")).first.inner_text(), "B": beside.inner_text()}
    found = {}
    for side, said in words.items():
        told = re.search(rf"asymmetry of S is {NUMBER}.*?that of A (?:is )?{NUMBER}", said)
        assert told is not None, said
        found[side] = [float(one.replace("−", "-")) for one in told.groups()]
    return found


def drawer(page: Page) -> Locator:
    """Open the drawer of switches in the sidebar, and in it the group of attention."""
    panel = page.locator(".st-key-switches-open")
    panel.locator("summary").click()
    expect(panel.get_by_role("combobox", name="Positions of A")).to_be_visible()  # they come first
    rests(page)
    with redrawn(page):
        panel.get_by_role("combobox", name="Group of switches").click()
        page.get_by_role("option", name="Attention", exact=True).click()
    return panel


def test_tied_queries_and_keys_make_scores_symmetric_and_weights_not(page: Page, server: Server) -> None:
    page.goto(server.url + PATH)
    expect(page.get_by_text(re.compile("asymmetry of S is")).first).to_be_visible()
    rests(page)
    panel = drawer(page)
    tied = panel.get_by_role("combobox", name="W_Q = W_K of A")
    expect(tied).to_be_visible()
    rests(page)
    boxes = panel.bounding_box(), page.get_by_test_id("stMain").bounding_box()
    assert all(boxes)
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]  # it covers nothing of the page
    tied.scroll_into_view_if_needed()  # first, for the list closes where the click itself has to scroll
    frame(page)
    tied.click()
    with redrawn(page):
        page.get_by_role("option", name="on", exact=True).click()
    expect(page).to_have_url(re.compile(r"model=mini-bert%3Fshared_query_key%3Dtrue"))
    read = asymmetries(page)
    (scores, weights), (others, their_weights) = read["A"], read["B"]
    assert scores < 1e-4 < 0.05 < weights
    assert others > 0.05
    assert their_weights > 0.05
    expect(page.get_by_text("Trained, then changed: W_Q = W_K on").first).to_be_visible()
    page.goto(page.url)  # the link, in a session of its own
    expect(page.get_by_text(re.compile("^Side B: Layer"))).to_be_visible()
    rests(page)
    assert asymmetries(page) == read
    panel = drawer(page)
    with redrawn(page):
        panel.get_by_role("button", name="Reset").first.click()
    expect(page.get_by_text(re.compile("^Side B: Layer"))).to_have_count(0)
    expect(page).not_to_have_url(re.compile("shared_query_key"))
