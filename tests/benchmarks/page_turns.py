"""A page change and a section change in Chromium, once the page and the section were seen: seconds until it rests.

    python tests/benchmarks/page_turns.py [--beside a checkout] [--rounds 5]

From the click in the navigation, or on a section's name, to the frame in which no script runs, nothing is dimmed and
the heading of the page stands there. Prints the median of each page and each section; the pages are those that each
checkout's own menus name.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent))
os.environ["HF_HUB_OFFLINE"] = "1"

from playwright.sync_api import Locator, Page
from running_app import opened, print_medians

PORT = 8672
SLOW = 120_000
RESTS = """title => document.querySelector(".stApp[data-test-script-state='notRunning']")
  && !document.querySelector("[data-stale=true], [data-testid=stSpinner]")
  && [...document.querySelectorAll("h1")].some((e) => e.innerText.trim() === title)"""


def clicked(page: Page, place: Locator, title: str) -> float:
    """Click, and return the seconds until the page rests."""
    start = perf_counter()
    place.click()
    page.wait_for_timeout(30)  # in which the script begins
    page.wait_for_function(RESTS, arg=title, timeout=SLOW)
    return perf_counter() - start


def menus(page: Page) -> dict[str, Locator]:
    """Read which menu leads to each page, by the page's title."""
    menu_of: dict[str, Locator] = {}
    for menu in page.get_by_test_id("stTopNav").get_by_role("button").all():
        menu.click()
        page.get_by_role("menuitem").first.wait_for()
        items = page.get_by_role("menuitem").all_inner_texts()
        menu_of |= dict.fromkeys((item.splitlines()[-1].strip() for item in items), menu)
        page.keyboard.press("Escape")
    return menu_of


def turned(page: Page, menu: Locator, title: str) -> float:
    """Choose a page in its menu."""
    menu.click()
    return clicked(page, page.get_by_role("menuitem", name=title), title)


def measured(root: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds by page, and by page and section."""
    seconds = defaultdict[str, list[float]](list)
    with opened(root, port=PORT) as (address, page):
        page.goto(address)
        page.locator(".hl-grid .cell").first.wait_for(timeout=SLOW)
        menu_of = menus(page)
        first = page.locator("h1").first.inner_text().strip()
        for at in range(rounds + 1):  # the first visit computes
            for title in [*(title for title in menu_of if title != first), first]:
                seconds[title].append(turned(page, menu_of[title], title))
                sections = page.locator(".st-key-section").get_by_role("radio")
                for number in range(sections.count()):
                    section = sections.nth(number)
                    taken = clicked(page, section, title)
                    seconds[f"{title}, {section.inner_text()}"].append(taken)
            if at == 0:
                seconds.clear()
    return seconds


if __name__ == "__main__":
    print_medians(measured, about=__doc__, rounds=5, digits=2)
