"""The walk through a block by keyboard."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import visit


def test_the_walk_through_a_block_by_keyboard(page: Page, server: Any) -> None:
    visit(page, server, "/block?layer=1&token=3")
    expect(page.get_by_text("Step 1 of 13: State x", exact=True)).to_be_visible()
    for step, name in enumerate(("Query x W_Q", "Key x W_K"), start=2):
        page.locator("body").press("n")
        expect(page.get_by_text(f"Step {step} of 13: {name}", exact=True)).to_be_visible()
    page.locator("body").press("b")
    expect(page.get_by_text("Step 2 of 13: Query x W_Q", exact=True)).to_be_visible()
