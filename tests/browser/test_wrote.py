"""The way from a cell to who wrote it, from head to head down to a token, and back by the browser."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlparse

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, rests, visit

TEXT = "model=mini-gpt&text=One+two+three+four+one+two+three+four"
LINK = f"/?{TEXT}&layer=2&head=0&query=7&key=1&why=true"


def asked(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def test_a_cell_leads_to_a_token_and_the_browser_leads_back(page: Page, server: Server) -> None:
    visit(page, server, LINK)
    page.get_by_text("Who wrote it", exact=True).click()  # one click
    expect(page.get_by_text(re.compile("^Of the score"))).to_be_visible()
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


def test_the_bar_of_a_layers_attention_leads_to_a_heads_map(page: Page, server: Server) -> None:
    visit(page, server, f"/block?section=Who+wrote+the+prediction&{TEXT}")
    bars = page.locator(".st-key-wrote-parts .bars .point")
    expect(bars).to_have_count(9)  # the embedding, and of each of four layers an attention and an FFN
    box = bars.nth(3).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    way = page.get_by_role("link", name="See what layer 1, head")
    expect(way).to_be_visible()
    assert int(asked(page)["wrote_head"]) in range(1 + 6, 1 + 12)  # a head of the second layer
    way.click()
    expect(page.get_by_role("gridcell").first).to_be_visible()
    assert asked(page)["layer"] == "1"


def test_the_head_that_is_opened_stands_in_the_link_and_in_the_trail(page: Page, server: Server) -> None:
    visit(page, server, f"{LINK}&wrote=true&wrote_opened=key.decoder.0.2.0")
    of_head = page.get_by_text("What layer 0, head 2 wrote").first
    expect(of_head).to_be_visible()
    assert asked(page)["wrote_opened"] == "key.decoder.0.2.0"
    rests(page)
    page.locator(".st-key-wrote-open-0 button").click()
    expect(page.get_by_text("Back to:")).to_be_visible()
    assert asked(page)["trail"].startswith("decoder.2.0.0.7.1~key.decoder.0.2.0-decoder.0.0.")
    assert "wrote_opened" not in asked(page)
    page.locator(".st-key-wrote-trail-0 button").click()
    expect(page.get_by_text("What layer 0, head 2 wrote").first).to_be_visible()
