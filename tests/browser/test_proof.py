"""The sentence of the page Attention and its picture as one thing: what it names is marked, its number leads on."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, rests, until, visit

NAMED = re.compile(r"marked, for the sentence names it: query (\d+) ‘(.+?)’ → key (\d+) ‘(.+?)’, weight (0\.\d+)")
# The proof fills the lower half of the window, and the cell above it is in sight.
SIGHT = """() => {
  const view = document.querySelector(".st-key-head-view [data-testid=stBidiComponentIsolated]").shadowRoot;
  const cell = view.querySelector(".plot .named").getBoundingClientRect();
  const proof = document.querySelector(".st-key-why-cell").getBoundingClientRect();
  return cell.top > 60 && cell.bottom < proof.top && proof.top < innerHeight / 2 + 2;
}"""


def sentence(page: Page) -> str:
    return page.get_by_role("heading", level=2).first.inner_text()


def named(page: Page) -> re.Match[str]:
    """The cell that is marked, as a screen reader is told."""
    told = NAMED.search(page.locator(".hl-head .cells").get_attribute("aria-label") or "")
    assert told
    return told


def test_the_marked_cell_is_the_sentences_and_lies_where_the_map_has_it(page: Page, server: Server) -> None:
    visit(page, server)
    query, query_token, key, key_token, weight = named(page).groups()
    assert f"{query_token} gives {round(100 * float(weight))} % of its attention to {key_token}" in sentence(page)
    plot, frame = (page.locator(f".hl-head {part}").bounding_box() for part in (".cells", ".plot .named"))
    assert plot
    assert frame
    cell = plot["width"] / 13
    assert abs(frame["x"] - plot["x"] - int(key) * cell) < 1
    assert abs(frame["y"] - plot["y"] - int(query) * cell) < 1
    ends = page.locator(".hl-head .lines .item.named").all_inner_texts()
    assert {text.split("\n")[0] for text in ends} == {query_token, key_token}
    assert any(weight in text for text in ends)


def test_to_point_at_the_number_lights_the_cell(page: Page, server: Server) -> None:
    visit(page, server)
    number, cursor = page.locator("h2 a[href='#why']"), page.locator(".hl-head .plot .cursor")
    expect(cursor).to_be_hidden()
    number.hover()
    expect(cursor).to_be_visible()
    assert cursor.bounding_box() == page.locator(".hl-head .plot .named").bounding_box()
    page.mouse.move(0, 0)
    expect(cursor).to_be_hidden()
    number.focus()
    expect(cursor).to_be_visible()


def test_the_number_opens_its_proof_in_sight_and_on_its_cell(page: Page, server: Server) -> None:
    visit(page, server)
    query, query_token, key, key_token, weight = named(page).groups()
    page.locator("h2 a[href='#why']").click()
    steps = page.locator(".hl-steps")
    expect(steps.locator(".step").last).to_contain_text(weight)
    rests(page)
    until(page, lambda: page.evaluate(SIGHT))
    assert page.evaluate(SIGHT)
    chosen = page.locator(".st-key-why-cell [data-testid=stSelectbox] input")
    assert [chosen.nth(at).input_value() for at in (0, 1)] == [f"{query} {query_token}", f"{key} {key_token}"]
    assert "#why" not in page.url
    assert "query=" not in page.url
    assert page.locator(".hl-head .pinned:visible").count() == 0
    page.go_back()
    expect(steps).to_have_count(0)


def test_the_number_of_a_pinned_token_opens_the_proof_of_that_token(page: Page, server: Server) -> None:
    visit(page, server, "/?query=2")
    query, query_token, key, key_token, weight = named(page).groups()
    assert (query, query_token) == ("2", "cat")
    page.locator("h2 a[href='#why']").click()
    expect(page.locator(".hl-steps .step").last).to_contain_text(weight)
    rests(page)
    chosen = page.locator(".st-key-why-cell [data-testid=stSelectbox] input")
    assert [chosen.nth(at).input_value() for at in (0, 1)] == [f"{query} {query_token}", f"{key} {key_token}"]
    assert f"query=2&key={key}" in page.url


def test_the_mark_of_a_head_that_the_browser_opens_comes_with_its_sentence(page: Page, server: Server) -> None:
    visit(page, server)
    cells = page.locator(".hl-head .cells")
    page.get_by_role("gridcell", name="layer 2, head 0,").click()
    label = cells.get_attribute("aria-label") or ""  # before the server has answered: the sentence is of another head
    assert "Layer 2, head 0" in label
    assert "marked" not in label
    expect(page.locator(".hl-head .plot .named")).to_be_hidden()
    expect(cells).to_have_attribute("aria-label", re.compile("Layer 2, head 0.*marked, for the sentence names it"))
    assert "Layer 2, head 0" in sentence(page)


def test_a_term_opens_its_meaning_and_escape_closes_it(page: Page, server: Server) -> None:
    visit(page, server)
    term, meaning = page.locator("h2 a[href='#term']", has_text="attention"), page.locator(".hl-terms .meaning")
    term.focus()
    page.keyboard.press("Enter")
    expect(meaning).to_be_visible()
    assert "These shares are its attention" in meaning.inner_text()
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
    term.click()
    expect(meaning).to_be_visible()
    term.click()
    expect(meaning).to_be_hidden()
    assert "#term" not in page.url
