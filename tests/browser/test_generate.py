"""The player in a real Chromium: it plays to the end and stops, keys and clicks walk, tokens are text, phones fit."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import without_errors

TEXT = "My dog sat on the big red chair."
# Asked in one go: while a narrow window's order takes the place of a wide one's, buttons come and go.
IN_ONE_ROW = """(names) => {
  const tops = [...document.querySelectorAll("[data-testid=stMain] button")]
    .filter((button) => names.some((name) => button.textContent.includes(name)))
    .map((button) => button.getBoundingClientRect().top);
  return tops.length === names.length && new Set(tops).size === 1;
}"""


@pytest.fixture
def tab(window):
    with without_errors(window, 1300, 1000) as page:
        yield page


def open_page(tab, server, **link: str) -> None:
    query = "&".join(f"{name}={quote(value)}" for name, value in {"model": "translator", "text": TEXT, **link}.items())
    tab.goto(f"{server.url}/generate?{query}")
    step = tab.locator(".hl-written [aria-current=step]")
    expect(step).to_have_count(1)  # two while a narrow window's order takes the place of a wide one's
    expect(step.first).to_be_visible()  # the narrow order may come just now


def at(tab, words: str):
    """Wait until the page says "Step 3 of 10"."""
    expect(tab.get_by_text(re.compile(rf"^Step {words}"))).to_be_visible()


def test_it_plays_to_the_end_and_the_browser_goes_back_over_it_at_once_and_keys_and_clicks_walk(tab, server) -> None:
    open_page(tab, server, step="3")
    at(tab, "3 of")
    last = tab.locator(".hl-written button").count()
    assert last > 6  # more steps are played than the browser may remember
    before = tab.evaluate("history.length")
    tab.get_by_role("button", name="Play").click()
    expect(tab.get_by_role("button", name="Pause")).to_be_visible()
    at(tab, f"{last} of {last}")
    expect(tab.get_by_role("button", name="Play")).to_be_visible()
    assert tab.evaluate("history.length") <= before + 2
    expect(tab.locator(".hl-written button").last).to_have_attribute("aria-current", "step")

    tab.keyboard.press("b")
    at(tab, f"{last - 1} of")
    tab.keyboard.press("n")
    at(tab, f"{last} of")
    tab.locator(".hl-written button").first.click()
    at(tab, "1 of")
    tab.locator(".hl-written button").first.press("ArrowRight")
    at(tab, "2 of")
    expect(tab).to_have_url(re.compile("step=2"))


def test_a_token_is_text_and_a_phone_scrolls_down_alone(tab, server) -> None:
    tab.set_viewport_size({"width": 390, "height": 800})
    open_page(tab, server, model="own-decoder", text="<img src=x onerror=alert(1)> **b**", new_tokens="5")
    assert tab.locator(".hl-written img").count() == 0
    expect(tab.locator(".hl-written .begun").nth(0)).to_contain_text("more")
    assert tab.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    tab.wait_for_function(IN_ONE_ROW, arg=["Play", "Back", "Next"])
