"""Compare in a real Chromium: what is looked at in one panel lights up in the others, and a click opens a pair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import rests, turn_to, until, visit, without_errors

WORDS = "/compare?b_model=mini-bert&text=Antidisestablishmentarianism+is+long."


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    with without_errors(window, 1280, 1400) as page:
        yield page


def ready(page: Page, server: Any, path: str) -> None:
    page.goto(server.url + path)
    expect(page.locator(".hl-head .plot").nth(2)).to_be_visible()
    rests(page)


def test_a_click_in_the_matrix_opens_the_pair(page: Page, server: Any) -> None:
    ready(page, server, "/compare?a_layer=1&a_head=7&b_model=own-encoder")
    plot = page.locator(".hl-matrix .plot")
    plot.scroll_into_view_if_needed()
    until(page, lambda: plot.evaluate("e => e.offsetHeight") > 72)  # laid out: more than a pixel a row
    box = plot.bounding_box()
    assert box is not None
    rows, columns = box["height"] / 72, box["width"] / 8
    at = {"x": (1 * 4 + 2 + 0.5) * columns, "y": (2 * 12 + 4 + 0.5) * rows}  # down: layer 2, head 4; across: 1, 2
    plot.hover(position=at)
    expect(page.locator(".hl-matrix .tip")).to_contain_text("layer 2, head 4 → layer 1, head 2")
    plot.click(position=at)
    expect(page.get_by_text("A: layer 2, head 4", exact=True)).to_be_visible()
    expect(page.get_by_text("B: layer 1, head 2", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("(?=.*a_layer=2)(?=.*a_head=4)(?=.*b_layer=1)(?=.*b_head=2)"))
    page.locator(".hl-matrix").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text("A: layer 2, head 5", exact=True)).to_be_visible()
    for place in ("layer 2, head 4", "layer 1, head 7"):  # two presses made two steps, of four values each
        rests(page)
        page.go_back()
        expect(page.get_by_text(f"A: {place}", exact=True)).to_be_visible()


def test_twin_maps_are_aligned_and_a_piece_lights_up_its_whole_word_in_the_other(page: Page, server: Any) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    ready(page, server, WORDS)
    plots = [page.locator(".hl-head .plot").nth(place) for place in range(3)]
    boxes = [box for plot in plots if (box := plot.bounding_box()) is not None]
    columns = [box for place in range(3) if (box := page.locator(".hl-head").nth(place).bounding_box()) is not None]
    assert len({round(box["y"]) for box in boxes}) == 1  # maps of 12, 14 and 8 rows begin at one height
    fields = [page.locator(f".st-key-{name}").bounding_box() for name in ("a_model", "b_model", "difference")]
    for field, column in zip(fields, columns, strict=True):  # what chooses a map stands over it, in its column
        assert field is not None
        assert abs(field["x"] - column["x"]) < 1
        assert field["y"] + field["height"] < column["y"]
    origins = [box["x"] - column["x"] for box, column in zip(boxes, columns, strict=True)]
    assert max(origins) - min(origins) < 1
    sentence = page.get_by_role("heading", level=2).first.bounding_box()
    assert sentence is not None
    assert sentence["y"] + sentence["height"] < boxes[0]["y"]
    a, b, apart = (page.locator(".hl-head").nth(place) for place in range(3))
    a.locator(".left .label", has_text="##ism").hover()
    lit = b.locator(".left .label.on")
    expect(lit).to_have_count(b.locator(".left .label").count() - 5)  # all pieces but [CLS] is long . [SEP]
    expect(apart.locator(".left .label.on")).to_have_text(["Antidisestablishmentarianism"])


def test_a_click_on_a_strip_opens_the_head(page: Page, server: Any) -> None:
    ready(page, server, "/compare?a_layer=1&a_head=7&further=Across+layers+and+heads")
    page.get_by_role("gridcell", name="head 7, layer 4").click()
    expect(page.get_by_text("A: layer 4, head 7", exact=True)).to_be_visible()
    page.get_by_role("gridcell", name="layer 4, head 2").click()
    expect(page.get_by_text("A: layer 4, head 2", exact=True)).to_be_visible()


def test_two_panels_a_row_and_one_on_a_phone(page: Page, server: Any) -> None:
    ready(page, server, "/compare?panels=3")
    boxes = [page.locator(".hl-head").nth(place).bounding_box() for place in range(3)]
    (a, b, c) = (box for box in boxes if box is not None)
    assert abs(a["y"] - b["y"]) < 2
    assert b["x"] > a["x"] + a["width"]
    assert c["y"] > a["y"] + a["height"]
    page.set_viewport_size({"width": 390, "height": 844})
    fill = page.locator(".st-key-fill")
    heads = page.locator(".hl-head")  # drawn anew for the narrow page
    until(page, lambda: all(width <= 390 for width in heads.evaluate_all("heads => heads.map((e) => e.offsetWidth)")))
    rests(page)
    places = [fill, page.locator(".st-key-a_model"), heads.nth(0), page.locator(".st-key-b_model"), heads.nth(1)]
    tops = [box["y"] for place in places if (box := place.bounding_box()) is not None]
    assert tops == sorted(tops)
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth - e.clientWidth") <= 1


def test_the_address_holds_the_head_that_came_along_from_attention(page: Page, server: Any) -> None:
    visit(page, server, "/?layer=3&head=1")
    turn_to(page, "Compare")
    expect(page.get_by_text("A: layer 3, head 1", exact=True)).to_be_visible()
    for part in ("a_layer=3", "a_head=1", "b_layer=4", "b_head=1"):
        expect(page).to_have_url(re.compile(part))
    page.goto(page.url)
    expect(page.get_by_text("A: layer 3, head 1", exact=True)).to_be_visible()
    expect(page.get_by_text("B: layer 4, head 1", exact=True)).to_be_visible()
