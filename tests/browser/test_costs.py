"""Costs in a browser: a click on a bar, and the clock that is stopped."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import rests, visit


def test_a_bar_opens_its_derivation_and_the_clock_can_be_stopped(page: Page, server: Any) -> None:
    visit(page, server, "/costs?of=A+known+shape&shape=BERT+base&length=1024")
    expect(page.get_by_text("Shape: BERT base")).to_be_visible()
    bars = page.locator(".js-plotly-plot").first
    expect(bars.locator(".bars .point").nth(1)).to_be_visible()
    bars.locator(".bars .point path").nth(1).click()
    expect(page.get_by_text("q: 2 n d² L = 2 · 1,024 · 768² · 12 = 14,495,514,624 FLOPs")).to_be_visible()
    expect(page).to_have_url(re.compile(r"component=attention"))
    expect(page.get_by_text("Formula and count agree to the last FLOP")).to_be_visible()
    rests(page)
    page.get_by_text("Milliseconds", exact=True).click()
    page.get_by_role("button", name="Measure", exact=True).click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Milliseconds are measured on this machine")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    rests(page)
    expect(page.get_by_role("button", name="Measure", exact=True)).to_be_visible()  # stopped, and nothing is kept
    assert page.get_by_test_id("stException").count() == 0
