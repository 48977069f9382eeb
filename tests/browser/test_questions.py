"""A question in Chromium: guessed, answered, seen on its page, and back; and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, rests, visit, without_errors


def test_guess_answer_see_it_on_its_page_and_back(page: Page, server: Server) -> None:
    visit(page, server, "/questions")
    page.get_by_role("button", name="All questions").click()
    page.get_by_role("button", name="If W_Q = W_K, is the attention matrix symmetric").click()
    expect(page.get_by_role("heading", name="27.")).to_be_visible()
    expect(page.get_by_role("link", name="See it on")).to_have_count(0)
    page.get_by_role("button", name="False", exact=True).click()
    expect(page.get_by_text("You guessed “False”: right.")).to_be_visible()
    rests(page)
    figure = page.get_by_test_id("stBidiComponentIsolated").filter(has=page.locator("canvas")).first
    expect(figure).to_be_visible()
    box = figure.bounding_box()
    assert box is not None
    assert box["y"] + 300 < 900, "the picture is above the fold"
    page.get_by_role("link", name="See it on Scores").click()
    expect(page).to_have_title("Scores · Headlight")
    expect(page.get_by_role("heading", name="W_Q W_Kᵀ, the matrix that compares two tokens")).to_be_visible()
    rests(page)
    page.get_by_role("button", name="Questions (").click()
    expect(page.get_by_role("link", name="27 · If W_Q")).to_be_visible()
    page.keyboard.press("Escape")
    page.go_back()
    expect(page).to_have_title("Questions · Headlight")
    expect(page.get_by_role("heading", name="27.")).to_be_visible()
    expect(page.get_by_text("You guessed “False”: right.")).to_be_visible()
    rests(page)
    page.go_back()
    expect(page.get_by_label("Search", exact=True)).to_be_visible()


def test_back_returns_in_one_press_from_a_page_with_another_model(page: Page, server: Server) -> None:
    """The link names the text, which the page's own address would not: it is not written a second time."""
    page.goto(f"{server.url}/questions?q=97")
    page.get_by_role("button", name="True", exact=True).click()
    page.get_by_role("link", name="See it on").click()
    expect(page).to_have_title("Time · Headlight")
    rests(page)
    page.go_back()
    expect(page).to_have_title("Questions · Headlight")
    expect(page.get_by_role("heading", name="97.")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_question_on_a_phone_in_chinese(window: Page, server: Server, dark: bool) -> None:
    with without_errors(window, 390, 844) as page:
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.goto(f"{server.url}/questions?q=16&lang=zh")
        expect(page.get_by_role("button", name="全部页面")).to_be_visible()  # drawn anew for the narrow window
        rests(page)
        page.get_by_role("button", name="只有一部分对").click()
        expect(page.get_by_text("4 条中有 1 条成立")).to_be_visible()
        rests(page)
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1
        page.get_by_role("button", name="全部问题").click()
        expect(page.get_by_label("搜索")).to_be_visible()
        rests(page)
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollTop") == 0
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1
