"""Padding on the page LayerNorm, in a real browser: its slider moves BatchNorm's numbers and not LayerNorm's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import SLOW, rests, visit


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    errors: list[str] = []
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(SLOW)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


def test_the_slider_moves_batch_norm_and_not_layer_norm(page: Page, server: Any) -> None:
    visit(page, server, "/layernorm?section=Another+norm")
    line = page.get_by_text(re.compile("mean in BatchNorm"))
    expect(line).to_be_visible()

    def read() -> dict[str, str]:
        return dict(re.findall(r"(\w+ in (?:Batch|Layer)Norm) ([−\d.e-]+)", line.inner_text()))

    before = read()
    page.get_by_role("slider", name="Columns of padding added").press("End")
    expect(page.get_by_text("48 columns of them added")).to_be_visible()
    rests(page)
    after = read()
    assert len(before) == 4
    assert {name for name in before if before[name] != after[name]} == {"mean in BatchNorm", "deviation in BatchNorm"}
