"""The walk through a block by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import SLOW, visit


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.set_default_timeout(SLOW)
    yield opened
    opened.close()


def test_the_walk_through_a_block_by_keyboard(page: Page, server: Any) -> None:
    visit(page, server, "/block?layer=1&token=3")
    expect(page.get_by_text("Step 13 of 13: Norm")).to_be_visible()
    page.locator("body").press("n")  # on from the last step begins anew
    expect(page.get_by_text("Step 1 of 13: State x")).to_be_visible()
    for step, name in enumerate(("Query x W_Q", "Key x W_K"), start=2):
        page.locator("body").press("n")
        expect(page.get_by_text(f"Step {step} of 13: {name}")).to_be_visible()
    page.locator("body").press("b")
    expect(page.get_by_text("Step 2 of 13: Query x W_Q")).to_be_visible()
