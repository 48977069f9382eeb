"""The atlas in Chromium: a head opened, its example in Attention and back, words that find heads; a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, rests, visit, without_errors


def test_from_a_head_to_its_example_in_attention_and_back(page: Page, server: Server) -> None:
    visit(page, server, "/atlas?by=previous")
    expect(page.get_by_text("Layer 0, head 2").first).to_be_visible()
    grid = page.get_by_test_id("stBidiComponentIsolated").filter(has=page.locator("canvas")).first
    box = grid.bounding_box()
    assert box is not None
    assert box["y"] + 200 < 900, "the picture is above the fold"
    page.get_by_role("radio", name="Strongest pairs").click()
    expect(page.get_by_text(" → ").first).to_be_visible()  # before it the links are those of the texts
    rests(page)
    link = page.get_by_role("link", name="Open in Attention").first
    link.scroll_into_view_if_needed()
    link.click()
    expect(page).to_have_title("Attention · Headlight")
    rests(page)
    expect(page.get_by_text("Layer 0, head 2").first).to_be_visible()
    assert "query=" in page.url, "the pair is pinned"
    page.go_back()  # one press, however much the page put into its address
    expect(page).to_have_title("Atlas · Headlight")
    rests(page)
    expect(page.get_by_text("Layer 0, head 2").first).to_be_visible()
    assert "query=" not in page.url
    assert "key=" not in page.url
    expect(page.get_by_role("radio", name="Strongest pairs")).to_be_checked()


def test_words_find_a_relation(page: Page, server: Server) -> None:
    visit(page, server, "/atlas")
    page.get_by_label("Find heads that").fill("direct objects")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Taken for: a head finds the governor of obj")).to_be_visible()
    rests(page)
    assert "by=obj+governor" in page.url
    page.get_by_label("Find heads that").fill("banana")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No number of this atlas is known by these words")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_an_atlas_on_a_phone(window: Page, server: Server, dark: bool) -> None:
    with without_errors(window, 390, 844) as page:
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.goto(f"{server.url}/atlas?by=sep")
        page.locator("canvas").first.wait_for()
        rests(page)
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1


def test_two_atlases_stand_beside_each_other_and_the_first_alone_opens_heads(page: Page, server: Server) -> None:
    visit(page, server, "/atlas?by=det+governor&atlas_beside=mini-gpt")
    cells = page.locator("canvas.cells")
    expect(cells).to_have_count(1)  # a decoder finds no governor that stands behind
    expect(page.get_by_text("The atlas beside it has no such number")).to_be_visible()
    visit(page, server, "/atlas?by=obj+governor&atlas_beside=mini-gpt")
    expect(cells).to_have_count(2)
    rests(page)
    first, second = (cells.nth(at).bounding_box() for at in (0, 1))
    assert first is not None
    assert second is not None
    assert second["x"] > first["x"] + first["width"]
    assert abs(second["y"] - first["y"]) < 1, "both begin at one height"
    assert abs(second["width"] / 6 - first["width"] / 12) < 1, "cells of one size"
    opening = page.get_by_text("Layer 2, head 0 of MiniLM finds the governor of obj")
    expect(opening).to_be_visible()
    page.mouse.click(second["x"] + 0.7 * second["width"], second["y"] + 0.9 * second["height"])
    rests(page)
    expect(opening).to_be_visible()
    page.mouse.click(first["x"] + 0.5 * first["width"] / 12, first["y"] + 5.5 * first["height"] / 6)
    expect(page.get_by_text("Layer 5, head 0 of MiniLM finds the governor of obj")).to_be_visible()


def test_two_atlases_stand_below_each_other_on_a_phone(window: Page, server: Server) -> None:
    with without_errors(window, 390, 844) as page:
        page.goto(f"{server.url}/atlas?by=best_offset&atlas_beside=smollm2")
        cells = page.locator("canvas.cells")
        expect(cells).to_have_count(2)
        rests(page)
        first, second = (cells.nth(at).bounding_box() for at in (0, 1))
        assert first is not None
        assert second is not None
        assert second["y"] > first["y"] + first["height"]
        assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth - main.clientWidth") <= 1


def test_from_attentions_head_to_its_card_and_back(page: Page, server: Server) -> None:
    visit(page, server, "/?layer=2&head=8")
    rests(page)
    page.get_by_role("link", name="Over 4,078 texts").click()
    expect(page).to_have_title("Atlas · Headlight")
    expect(page.get_by_text("Layer 2, head 8 gives").first).to_be_visible()
    rests(page)
    assert "query=" not in page.url
    page.go_back()
    expect(page).to_have_title("Attention · Headlight")
    rests(page)
    expect(page.get_by_text("Layer 2, head 8").first).to_be_visible()
    assert "by=" not in page.url
