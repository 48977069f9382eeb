"""The permutation test of the page Positions: the numbers are read from the page, in a wide window and on a phone."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import SLOW, Server


def test_another_order_changes_hidden_states_and_without_positions_it_does_not(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/positions?section=Does+it+matter")
    told = page.get_by_text(re.compile(r"changes by .* of its length on average\. With its positions taken away"))
    for order, named in (("", "Read backwards"), ("Shuffled", "Read in a shuffled order")):
        if order:
            page.get_by_role("radio", name=order).click()
        expect(told).to_contain_text(named, timeout=SLOW)
        changed, bare = (float(one) for one in re.findall(r"changes by (?:under )?([\d.]+) %", told.inner_text()))
        assert changed > 1
        assert bare <= 0.01
    page.set_viewport_size({"width": 390, "height": 844})
    expect(told).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
