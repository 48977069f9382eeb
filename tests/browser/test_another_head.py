"""Another head opens in the browser, at once; sentence, numbers and address follow where the reader rests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from inspector import record
from models import LoadedModel
from tests.browser.conftest import NOTE, Server, rests, visit, without_errors
from tests.browser.drawing import SAID
from tests.closeness import assert_close

LONG = " ".join(["the cat sat on the mat because it was tired"] * 30)  # 272 tokens: 21 MB of maps
HEADS = 12  # of a layer of the default model, which has six
TEXT = "The cat sat on the mat because it was tired."
PICTURE = """() => {
  const view = document.querySelector(".st-key-head-view [data-testid=stBidiComponentIsolated]").shadowRoot;
  return view.querySelector(".cells").toDataURL();
}"""

# Twenty keys and what is drawn after them, within one task of the browser: no answer of the server can come between.
KEYS = """() => {
  const parts = (name) => document.querySelector(`.st-key-${name} [data-testid=stBidiComponentIsolated]`).shadowRoot;
  const view = parts("head-view").querySelector(".hl-head");
  const key = { key: "]", bubbles: true, composed: true };
  for (let i = 0; i < 20; i++) view.dispatchEvent(new KeyboardEvent("keydown", key));
  const { layer, head } = parts("grid-view").querySelector("[aria-selected=true]").dataset;
  return [Number(layer), Number(head), view.querySelector(".steps span").textContent, window.sent];
}"""


@pytest.fixture
def page(window: Page) -> Iterator[Page]:
    with without_errors(window, 1440, 900) as page:
        yield page


def framed(page: Page) -> tuple[int, int]:
    """Layer and head that the grid frames."""
    cell = page.locator(".hl-grid [aria-selected=true]")
    return int(cell.get_attribute("data-layer") or -1), int(cell.get_attribute("data-head") or -1)


def drawn(page: Page) -> tuple[int, int]:
    """Layer and head that the open view says it draws."""
    name = re.match(r"Layer (\d+), head (\d+)", page.locator(".hl-head").get_attribute("aria-label") or "")
    assert name
    return int(name[1]), int(name[2])


def further(place: tuple[int, int], by: int) -> tuple[int, int]:
    return divmod((HEADS * place[0] + place[1] + by) % (6 * HEADS), HEADS)


def step(page: Page, times: int) -> None:
    page.locator(".hl-head").focus()
    for _ in range(times):
        page.keyboard.press("]")
        page.wait_for_timeout(40)


def settled(page: Page, place: tuple[int, int]) -> None:
    """Wait until the address names the place; then view, grid, line and sentence have to agree."""
    layer, head = place
    expect(page).to_have_url(re.compile(rf"[?&]layer={layer}&(?:.*&)?head={head}\b"))
    agree(page, place)


def agree(page: Page, place: tuple[int, int]) -> None:
    layer, head = place
    framing = page.locator(f".hl-grid [data-layer='{layer}'][data-head='{head}'][aria-selected=true]")
    expect(framing).to_be_visible()  # after Back the address is there before the run that draws it
    rests(page)
    assert framed(page) == drawn(page) == place
    named = page.get_by_test_id("stMain").locator("strong").filter(has_text=f"Layer {layer}, head {head}")
    expect(named.filter(visible=True)).to_have_count(1)
    said = page.get_by_role("heading", level=2).first.inner_text().lower()
    assert {f"layer {layer}", f"head {head}"} <= set(re.findall(r"(?:layer|head) \d+", said)), said


def test_twenty_keys_in_a_second_end_on_the_last_head_and_back_returns_to_what_rested(
    page: Page, server: Server
) -> None:
    visit(page, server)
    start = drawn(page)
    page.evaluate(NOTE)
    layer, head = further(start, 20)
    assert page.evaluate(KEYS) == [layer, head, f"Layer {layer}, head {head}", ""]  # the server was asked nothing
    settled(page, further(start, 20))
    step(page, 3)
    settled(page, further(start, 23))
    page.go_back()
    settled(page, further(start, 20))
    page.go_back()
    expect(page).not_to_have_url(re.compile("head="))
    agree(page, start)


def test_a_head_that_the_browser_draws_is_the_one_that_the_server_sends_and_tells_its_weights(
    page: Page, server: Server, minilm: LoadedModel
) -> None:
    visit(page, server)
    page.get_by_role("gridcell", name="layer 2, head 5,").click()
    settled(page, (2, 5))
    sent = page.evaluate(PICTURE)
    for name in ("layer 4, head 1,", "layer 2, head 5,"):
        page.get_by_role("gridcell", name=name).click()
    assert drawn(page) == (2, 5)
    assert page.evaluate(PICTURE) == sent
    trace = record(minilm, TEXT)
    weights = trace.attention(layer=2, head=5)
    box = page.locator(".hl-head .plot").bounding_box()
    assert box
    n = len(trace.tokens)
    for query, key in np.random.default_rng(3).integers(0, n, (6, 2)):
        page.mouse.move(box["x"] + (key + 0.5) * box["width"] / n, box["y"] + (query + 0.5) * box["height"] / n)
        page.wait_for_timeout(60)
        told = SAID.search(page.locator(".hl-head .tip").inner_text().replace("\n", " "))
        assert told
        assert (int(told["query"]), int(told["key"])) == (query, key)
        assert np.float32(told["weight"]) == weights[query, key]
        score = float(told["score"].replace("−", "-"))
        assert_close(score, float(trace.scores(layer=2, head=5)[query, key]), relative=6e-5, scale=max(1, abs(score)))


def test_pins_stay_as_another_head_opens(page: Page, server: Server) -> None:
    visit(page, server)
    page.locator(".hl-head").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile("query="))
    rests(page)
    pinned = page.locator(".hl-head .pinned").count()
    assert pinned
    place = further(drawn(page), 2)
    step(page, 2)
    assert page.locator(".hl-head .pinned").count() == pinned
    settled(page, place)
    assert page.locator(".hl-head .pinned").count() == pinned


def test_a_head_of_scores_comes_from_the_server(page: Page, server: Server) -> None:
    visit(page, server, "/?kind=scores")
    place = further(drawn(page), 1)
    step(page, 1)
    settled(page, place)


@pytest.mark.parametrize("lost", [False, True])
def test_a_longer_text_s_maps_are_fetched_one_by_one_and_come_from_the_server_where_they_are_lost(
    page: Page, server: Server, minilm: LoadedModel, lost: bool
) -> None:
    if lost:
        page.route("**/maps/**", lambda route: route.abort())
    visit(page, server, f"/?text={quote(LONG)}")
    place = further(drawn(page), 2)
    step(page, 2)
    settled(page, place)
    weights = record(minilm, LONG).attention(layer=place[0], head=place[1])
    page.locator(".hl-head").focus()
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    page.wait_for_timeout(60)
    told = SAID.search(page.locator(".hl-head .tip").inner_text().replace("\n", " "))
    assert told
    assert np.float32(told["weight"]) == weights[int(told["query"]), int(told["key"])]


def test_a_map_is_sent_once_by_the_server_or_by_its_address(page: Page, server: Server) -> None:
    fetched: list[str] = []
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    page.on("request", lambda request: fetched.append(request.url) if "/maps/" in request.url else None)
    visit(page, server, f"/?text={quote(LONG)}")
    received.clear()
    place = further(drawn(page), 1)
    step(page, 1)
    settled(page, place)
    assert [url.rsplit("/", 2)[1:] for url in fetched] == [[str(place[0]), str(place[1])]]
    assert sum(received) < 30_000  # a map of this text is 296 KB
