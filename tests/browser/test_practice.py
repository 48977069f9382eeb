"""Practice in Chromium: a task chosen, its file copied, hints and solution; and on a phone, light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from inspector.practice import texts
from inspector.practice.index import find
from tests.browser.conftest import Server, rests, visit, without_errors


def test_a_stub_is_copied_hints_come_one_by_one_and_the_solution_opens(page: Page, server: Server) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, server, "/practice?task=2")
    expect(page.get_by_role("heading", name="2 · Scaled dot-product attention")).to_be_visible()
    page.get_by_test_id("stCode").first.hover()
    page.get_by_role("button", name="Copy to clipboard").first.click()
    assert page.evaluate("navigator.clipboard.readText()").strip() == texts.stub(find(2)).strip()
    for number, kind in enumerate(("The formula", "A smaller case", "The usual cause"), 1):
        page.get_by_role("button", name=f"Show hint {number} of 3").click()
        expect(page.get_by_text(f"{kind}.", exact=True)).to_be_visible()
    expect(page.get_by_text("All hints are shown.")).to_be_visible()
    page.get_by_role("button", name="Show the solution").click()
    expect(page.get_by_text("return torch.softmax(scores, dim=-1) @ value")).to_be_visible()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download mine.py").click()
    assert downloading.value.suggested_filename == "mine.py"
    assert downloading.value.path().read_text(encoding="utf-8") == texts.stub(find(2))
    page.get_by_role("combobox").first.click()
    page.keyboard.type("delta")  # the list draws only what is in sight
    page.get_by_role("option", name="Beyond · 13 · The delta rule").click()
    expect(page.get_by_role("heading", name="13 · The delta rule")).to_be_visible()
    rests(page)
    assert "task=13" in page.url
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("heading", name="第 13 题 · delta 规则")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_task_on_a_phone_in_chinese(window: Page, server: Server, dark: bool) -> None:
    with without_errors(window, 390, 844) as page:
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.goto(f"{server.url}/practice?task=8&lang=zh")
        expect(page.get_by_role("button", name="全部页面")).to_be_visible()
        expect(page.get_by_role("heading", name="第 8 题")).to_be_visible()
        rests(page)
        page.get_by_role("button", name="显示提示 1").click()
        expect(page.get_by_text("公式", exact=True).or_(page.get_by_text("公式.", exact=True)).first).to_be_visible()
        rests(page)
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1
