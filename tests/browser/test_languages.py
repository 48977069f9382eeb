"""The switch of language in Chromium: the frame turns, the model stays chosen, the next page and Back keep it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, rests, visit


@pytest.mark.parametrize("model", ["minilm", "mini-gpt"])
def test_the_choice_is_kept_over_pages(page: Page, server: Server, model: str) -> None:
    visit(page, server, f"/?model={model}")
    page.get_by_role("button", name="中文").click()
    expect(page).to_have_title("注意力 · Headlight")
    rests(page)
    page.get_by_role("button", name="学习").click()
    page.get_by_role("menuitem", name="实验室").click()
    expect(page).to_have_title("实验室 · Headlight")
    rests(page)
    assert "lang=zh" in page.url
    page.go_back()
    expect(page).to_have_title("注意力 · Headlight")
    rests(page)
    expect(page.get_by_role("button", name="English")).to_be_visible()
    assert page.get_by_test_id("stMain").get_by_text("模型：").inner_text().startswith("模型：")
