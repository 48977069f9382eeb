"""The way from a cell to who wrote it, from head to head down to a token, and back by the browser."""

from __future__ import annotations

from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, visit

LINK = "/?model=mini-gpt&text=One+two+three+four+one+two+three+four&layer=2&head=0&query=7&key=1&why=true"


def asked(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def test_a_cell_leads_to_a_token_and_the_browser_leads_back(page: Page, server: Server) -> None:
    visit(page, server, LINK)
    page.get_by_text("Who wrote it", exact=True).click()  # one click
    expect(page.get_by_text("One pair gives")).to_be_visible()
    expect(page.get_by_text("225 pairs: sum")).to_be_visible()
    page.locator(".st-key-wrote-open-3 button").click()  # two
    expect(page.get_by_text("Back to:")).to_be_visible()
    here = asked(page)
    assert here["layer"] == "0"
    assert here["trail"].startswith("decoder.2.0.0.7.1-decoder.0.0.")
    expect(page.get_by_text("1 pair: sum")).to_be_visible()  # the embedding of one token meets that of another
    page.go_back()
    expect(page.get_by_text("225 pairs: sum")).to_be_visible()
    there = asked(page)
    assert (there["layer"], there["query"], there["key"]) == ("2", "7", "1")
    assert "trail" not in there
    page.go_forward()
    expect(page.get_by_text("Back to:")).to_be_visible()
    page.locator(".st-key-wrote-trail-0 button").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("225 pairs: sum")).to_be_visible()
