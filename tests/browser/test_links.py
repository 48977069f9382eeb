"""Every choice on the Attention page is in its link, which shows the same in a browser that never saw it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import SLOW, Server, rests, without_errors

SIZE = (1440, 1400)
# What the page shows of the reader's choices, and the pictures themselves.
SHOWN = """() => {
  const inside = (e) => (e.shadowRoot ? [e, ...deep(e.shadowRoot)] : [e]);
  const deep = (root) => [...root.querySelectorAll("*")].flatMap(inside);
  const all = (selector) => deep(document).filter((e) => e.matches(selector));
  return {
    switches: all("[data-testid=stCheckbox]").map((e) => [e.innerText, e.querySelector("input").checked]),
    kind: all("[data-testid*=segmented_controlActive]").map((e) => e.innerText),
    heads: all(".hl-grid .cell").map((e) => [e.dataset.tag, e.ariaSelected, e.classList.contains("dim")]),
    sorted: all(".hl-grid select, .hl-grid .direction").map((e) => e.value || e.innerText),
    chips: all(".hl-grid .chip").map((e) => [e.dataset.role, e.ariaPressed]),
    tools: all(".hl-head .tools :is(select, input)").filter((e) => !e.hidden).map((e) => e.value),
    title: all("[data-testid=stMain] strong").map((e) => e.innerText),
    why: all("[data-testid=stExpander] summary").map((e) => e.innerText),
    pictures: all(".hl-grid .field canvas, .hl-head canvas.cells").map((e) => e.toDataURL()),
  };
}"""


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    with without_errors(window, *SIZE) as page:
        yield page


def opened(browser: Browser) -> Iterator[Page]:
    """Open a window of its own, which never saw the page."""
    width, height = SIZE
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(SLOW)
    yield page
    page.close()


def shown(page: Page) -> dict[str, object]:
    """Read the page once it rests."""
    rests(page)
    before, now = None, page.evaluate(SHOWN)
    while now != before:
        page.wait_for_timeout(700)
        rests(page)
        before, now = now, page.evaluate(SHOWN)
    return now


def in_link(page: Page, *parts: str) -> None:
    for part in parts:
        expect(page).to_have_url(re.compile(re.escape(part)))


def test_all_that_is_chosen_comes_back(page: Page, browser: Browser, server: Server) -> None:
    page.goto(f"{server.url}/?pair=It+was+tired+of+unbelievably+long+walks.")
    expect(page.get_by_role("gridcell")).to_have_count(72)
    untouched = shown(page)
    grid, head = page.locator(".hl-grid"), page.locator(".hl-head").first
    grid.locator("[data-layer='2'][data-head='3']").click()
    in_link(page, "layer=2", "head=3")
    expect(page.locator("strong", has_text="Layer 2, head 3")).to_be_visible()
    page.get_by_role("button", name="Options").click()
    for name, key in (("Hide special tokens", "hide"), ("Merge word pieces", "words"), ("Square-root colour", "sqrt")):
        page.get_by_test_id("stCheckbox").get_by_text(name).click()
        in_link(page, f"{key}=true")
    page.get_by_test_id("stCheckbox").get_by_text("Renormalise").click()
    in_link(page, "renormalise=true")
    page.keyboard.press("Escape")
    grid.locator("select").select_option("distance")
    in_link(page, "sort=distance")
    grid.locator(".direction").click()
    in_link(page, "sort=-distance")
    role = grid.locator(".chip").nth(1).get_attribute("data-role")
    grid.locator(".chip").nth(1).click()
    in_link(page, f"only={role}")
    head.get_by_label("Lines", exact=True).select_option("top")
    head.get_by_label("lines for each query").fill("2")
    in_link(page, "lines=top2")
    head.get_by_label("Texts").select_option("ab")
    in_link(page, "between=ab")
    head.get_by_label("only tokens that contain").fill("a")
    in_link(page, "tokens=a")
    head.locator(".plot").click(position={"x": 60, "y": 60})
    in_link(page, "query=")
    here = shown(page)
    assert here != untouched
    for another in opened(browser):
        another.goto(page.url)
        expect(another.get_by_role("gridcell")).to_have_count(72)
        there = shown(another)
        for name, value in here.items():
            assert there[name] == value, name
        expect(another.get_by_text("The link asks for")).to_have_count(0)
        expect(another.locator("strong", has_text="Layer 2, head 3")).to_be_visible()
        expect(another.locator("[data-layer='2'][data-head='3']")).to_have_attribute("aria-selected", "true")
        another.get_by_role("button", name="Options").click()
        expect(another.get_by_role("switch", name="Merge word pieces")).to_be_checked()


def test_what_is_drawn_of_a_head_comes_back(window: Page, server: Server) -> None:
    drawn = {}
    with without_errors(window, *SIZE) as page:
        page.goto(f"{server.url}/?layer=1&head=4")
        expect(page.get_by_role("gridcell")).to_have_count(72)
        for kind, key in (("Scores", "scores"), ("Norm-weighted", "norm-weighted"), ("Rollout", "rollout")):
            page.get_by_test_id("stMain").get_by_role("radio", name=kind).click()
            in_link(page, f"kind={key}")
            here = shown(page)
            drawn[page.url] = here
    assert len(drawn) == 3
    for url, here in drawn.items():
        with without_errors(window, *SIZE) as another:  # emptied: it knows nothing of the choice
            another.goto(url)
            expect(another.get_by_role("gridcell")).to_have_count(72)
            assert shown(another) == here
