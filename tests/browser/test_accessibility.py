"""Every page, light and dark, as axe-core measures it: contrast, names, order, and targets of 24 pixels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.conftest import PAGES, SLOW, visit

RULES = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, bypass_csp=True
    )  # axe's own script is inline
    opened = context.new_page()
    opened.set_default_timeout(SLOW)
    yield opened
    context.close()


def findings(page: Page) -> list[str]:
    """List the findings of axe-core of serious or critical impact, an element a line."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found
        for node in violation["nodes"]
        if violation["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_in_the_light_nor_in_the_dark(
    page: Page, server: Any, scheme: Literal["light", "dark"], path: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    visit(page, server, path)
    assert findings(page) == []
