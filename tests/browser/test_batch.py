"""The page Batch in a real browser: a fill that leaks is seen, in the sentence and at the cell."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import rests, visit


def test_a_leaking_fill_is_seen(page: Page, server: Any) -> None:
    visit(page, server, "/batch?model=mini-bert%3Fmask_fill%3D-5.0&row=1")
    expect(page.get_by_role("heading", name=re.compile("The mask leaks: .* of its weight to padding"))).to_be_visible()
    before = page.get_by_text(re.compile(r"to padding [\d.]+ · to other texts")).inner_text()
    assert float(re.search(r"to padding ([\d.e-]+)", before)[1]) > 1e-3
    page.get_by_role("combobox", name="Layout").click()
    page.get_by_role("option", name="One by one").click()
    expect(page.get_by_text(re.compile("to padding 0 · "))).to_be_visible()
    rests(page)
    page.get_by_role("radio", name="Where a mask leaks").click()
    expect(page.get_by_role("heading", name=re.compile("× 0 leaves"))).to_be_visible()
    rests(page)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
