"""Every page, opened once in light or dark and turned to the other: nothing is refused, and it holds what it must.

axe-core measures contrast, names, order and targets of 24 pixels; the focus is followed; a phone scrolls down alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import PAGES, Server, lent, redrawn, visit

RULES = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}
MOST = 250  # presses of Tab; the page Questions has 143 rows and its controls
AT_ONCE = "*, *::before, *::after { transition: none !important; animation: none !important }"
# Streamlit marks its links to pages and the tools of a table by a paler ground alone, and a table's canvas by a cell.
BY_THE_GROUND = ("stPageLink-NavLink", "stBaseButton-elementToolbar", "data-grid-canvas")
# Looks at the control with the focus, and at the last one, which has lost it: what is another look now was its mark.
STEP = """() => {
  const ownLuminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const up = (one) => one.parentElement ?? one.getRootNode().host;
  const ground = (one) => {
    for (let at = one; at; at = up(at)) {
      const [r, g, b, alpha = 1] = numbers(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const contrast = (one, colour) => {
    const [a, b] = [ownLuminance(numbers(colour).slice(0, 3)), ownLuminance(ground(up(one)))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const around = (one) => {
    const area = (element) => element.getBoundingClientRect().width * element.getBoundingClientRect().height;
    const found = [one, ...one.children], most = 4 * Math.max(area(one), 2000);
    for (let at = up(one); at && area(at) <= most && found.length < 20; at = up(at)) found.push(at, ...at.children);
    return found;
  };
  const look = (one) => [null, "::before", "::after"].map((part) => {
    const style = getComputedStyle(one, part);
    const outline = style.outlineStyle === "none" ? "" : style.outlineWidth + style.outlineColor;
    return [outline, style.boxShadow, style.borderTopColor, style.borderTopWidth].join();
  }).join();
  const last = window.lastFocus;
  const told = last && {
    name: last.name,
    marked: last.around.some((one, at) => look(one) !== last.looks[at]),
    contrast: last.contrast,
  };
  let now = document.activeElement;
  while (now?.shadowRoot?.activeElement) now = now.shadowRoot.activeElement;
  const ended = !now || now === document.body;
  if (ended) window.lastFocus = null;
  else {
    const host = now.getRootNode().host, held = (host ?? now).closest("[data-testid]");
    const label = now.getAttribute("aria-label") ?? now.innerText ?? "";
    window.lastFocus = {
      name: `${held?.dataset.testid}: ${now.tagName} ${label.slice(0, 40)}`,
      around: around(now),
      looks: around(now).map(look),
      contrast: host ? contrast(now, getComputedStyle(now).outlineColor) : null,
    };
  }
  return { ended, told };
}"""


GROUNDS = {False: "rgb(255, 255, 255)", True: "rgb(20, 21, 26)"}  # dark? -> colour of the page


@pytest.fixture(scope="module", params=list(enumerate(PAGES)), ids=lambda page: page[1])
def opened(request: pytest.FixtureRequest, window: Page, server: Server) -> Iterator[tuple[Page, bool]]:
    """A page with its picture, and whether it was opened in the dark, as every second one is."""
    number, path = request.param
    dark = bool(number % 2)
    complaints: list[str] = []
    own = (server.url, "data:", "blob:", "about:")
    pieces = re.compile("data:[^']{100,}")  # whole pictures and fonts
    heard = {
        "request": lambda asked: asked.url.startswith(own) or complaints.append(f"request: {asked.url}"),
        "dialog": lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        "pageerror": lambda error: complaints.append(f"error: {error}"),
        "console": lambda said: "Content Security Policy" in said.text and complaints.append(pieces.sub("", said.text)),
    }
    with lent(window, 1440, 900, dark=dark, **heard) as page:
        visit(page, server, path)
        page.add_style_tag(content=AT_ONCE)
        yield page, dark
    assert complaints == []  # at the end: what is refused may be refused late


def findings(page: Page) -> list[str]:
    """List the findings of axe-core of any impact, an element a line."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found
        for node in violation["nodes"]
    ]


def walked(page: Page) -> list[dict[str, Any]]:
    """Walk through a page with Tab from its top; each control with its mark of the focus, and the contrast of ours."""
    page.evaluate("window.lastFocus = null")
    page.get_by_test_id("stSkipToContent").evaluate("(first) => first.focus()")  # a walk before ended further down
    found = []
    for _ in range(MOST):
        page.keyboard.press("Tab")
        step = page.evaluate(STEP)
        found += [step["told"]] if step["told"] else []
        if step["ended"] and found:
            break
    return found


@pytest.mark.parametrize("turned", [False, True], ids=["as opened", "in other colours"])
def test_nothing_is_found_and_the_focus_is_seen(opened: tuple[Page, bool], turned: bool) -> None:
    page, dark = opened
    if turned:
        dark = not dark
        with redrawn(page, told=f'"dark":{str(dark).lower()}'):
            page.emulate_media(color_scheme="dark" if dark else "light")
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", GROUNDS[dark])
    expect(page.get_by_test_id("stException")).to_have_count(0)
    if turned and findings(page):  # on a busy machine a widget is still in the other colours
        page.wait_for_timeout(2000)
    assert findings(page) == []
    controls = walked(page)
    few = any(
        name in page.url for name in ("/lab", "/practice", "/lessons")
    )  # the Lab's settings are folded, Practice and Lessons read no text
    assert len(controls) > (9 if few else 20)
    unseen = [one["name"] for one in controls if not one["marked"]]
    assert [name for name in unseen if not any(known in name for known in BY_THE_GROUND)] == []
    assert [one for one in controls if one["contrast"] is not None and one["contrast"] < 3] == []
    if turned and "/block" in page.url:  # last, for the focus stays there
        page.get_by_test_id("stPopover").get_by_role("button", name="Slide and files of").first.click()
        lines = page.get_by_text("The same numbers without the page").first
        lines.wait_for()
        assert findings(page) == []  # of what an open popover shows, and of the button that opened it
        page.keyboard.press("Escape")
        lines.wait_for(state="hidden")


def test_nothing_scrolls_sideways_on_a_phone(opened: tuple[Page, bool]) -> None:
    page, _ = opened
    with redrawn(page, told='"covered":true'):
        page.set_viewport_size({"width": 390, "height": 844})
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth - e.clientWidth") <= 1
