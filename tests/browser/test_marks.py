"""Marks of what a page's sentence names, in charts, small maps and maps, lit as the reader points at the sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, rests, until, without_errors

OUTLINED = """(points) => points.filter((point) => {
  const { strokeWidth, strokeOpacity } = getComputedStyle(point);
  return parseFloat(strokeWidth) > 2 && strokeOpacity !== "0";
}).length"""
CLICKS = """if (!("clicks" in window)) {
  window.clicks = 0;
  addEventListener("click", ({ isTrusted }) => (window.clicks += isTrusted), true);
}"""


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    with without_errors(window, 1440, 900) as page:
        yield page


def shown(page: Page, server: Server, path: str, picture: str) -> None:
    page.goto(server.url + path)
    expect(page.locator(picture).first).to_be_visible()
    rests(page)


@pytest.mark.parametrize("path", ["/costs", "/block?section=What+each+part+adds"])
def test_a_chart_outlines_what_the_sentence_names_and_tells_it_where_the_reader_points(
    page: Page, server: Server, path: str
) -> None:
    shown(page, server, path, ".js-plotly-plot")
    points = page.locator(".js-plotly-plot .point path")
    until(page, lambda: points.evaluate_all(OUTLINED) > 0)
    marked = points.evaluate_all(OUTLINED)
    assert 0 < marked < points.count()
    told = page.locator(".js-plotly-plot .hoverlayer .hovertext")
    expect(told).to_have_count(0)
    page.get_by_role("heading", level=2).first.hover()
    expect(told).to_have_count(1)
    page.mouse.move(0, 0)
    expect(told).to_have_count(0)


def test_the_small_maps_mark_the_head_of_the_sentence_whichever_is_open(page: Page, server: Server) -> None:
    shown(page, server, "/what_if?model=mini-bert", "[role=gridcell]")
    told = re.search(
        r"changes most in layer (\d+), head (\d+)", page.get_by_role("heading", level=2).first.inner_text()
    )
    assert told
    named = page.locator(".hl-grid .cell.named")
    place = f"layer {told[1]}, head {told[2]}"
    expect(named).to_have_attribute("aria-label", re.compile(rf"^{place}.*marked, for the sentence names it$"))
    page.get_by_role("gridcell").nth(0 if told.groups() != ("0", "0") else 1).click()
    rests(page)
    expect(named).to_have_attribute("aria-label", re.compile(f"^{place}"))
    page.get_by_role("heading", level=2).first.hover()
    expect(page.locator(".hl-grid .cell.named.lit")).to_have_count(1)


def test_compares_sentence_is_marked_in_all_three_maps(page: Page, server: Server) -> None:
    shown(page, server, "/compare?a_layer=1&a_head=7&b_layer=4&b_head=3", ".hl-head .plot")
    sentence = page.get_by_role("heading", level=2).first.inner_text()
    told = re.search(
        r"differ most at (?:the \w+ )?(\S+), which gives (?:the \w+ )?(\S+) (\d+) % in A and (\d+) % in B", sentence
    )
    assert told
    query, key, *shares = told.groups()
    weights = []
    for label in page.locator(".hl-head .cells").evaluate_all("all => all.map((e) => e.ariaLabel)"):
        cell = re.search(
            r"marked, for the sentence names it: query \d+ ‘(.+?)’.* → key \d+ ‘(.+?)’.*, .* ([+−]?[\d.]+)$", label
        )
        assert cell, label
        assert cell.groups()[:2] == (query, key)
        weights.append(float(cell[3].replace("−", "-")))
    a, b, apart = weights
    assert [f"{weight:.0%}".replace("%", "") for weight in (a, b)] == shares
    assert abs(a - b - apart) < 0.002
    assert page.locator(".hl-head .plot .named:visible").count() == 3


@pytest.mark.parametrize(("layer", "head", "other"), [(2, 7, 5), (0, 2, 4)])
def test_three_clicks_lead_to_two_layers_of_one_head(
    page: Page, server: Server, layer: int, head: int, other: int
) -> None:
    """Also where the other layer, or the head, is what the page would show without being asked."""
    page.add_init_script(CLICKS)
    shown(page, server, "/", "[role=gridcell]")
    page.get_by_role("gridcell", name=f"layer {layer}, head {head},").click()
    expect(page).to_have_url(re.compile(f"layer={layer}"))
    page.get_by_role("button", name="Compare with").click()
    page.get_by_role("link", name=f"Layer {other}, head {head}", exact=True).click()
    expect(page.get_by_text(f"A: layer {layer}, head {head}", exact=True)).to_be_visible()
    expect(page.get_by_text(f"B: layer {other}, head {head}", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("/compare"))
    assert 0 < page.evaluate("window.clicks") <= 3
    rests(page)
    page.go_back()  # one press leaves the page
    expect(page).to_have_title("Attention · Headlight")
