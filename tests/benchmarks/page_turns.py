"""A page change and a section change in Chromium, once the page and the section were seen: seconds until it rests.

    python tests/benchmarks/page_turns.py [--beside a checkout] [--rounds 5]

From the click in the navigation, or on a section's name, to the frame in which no script runs, nothing is dimmed and
the heading of the page stands there. Prints the median of each page and each section.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["HF_HUB_OFFLINE"] = "1"

from playwright.sync_api import Locator, Page
from running_app import opened, print_medians

from tests.browser.conftest import GROUPS

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


def turned(page: Page, title: str) -> float:
    """Choose a page in the navigation."""
    group = next(group for group, titles in GROUPS.items() if title in titles)
    page.get_by_test_id("stTopNav").get_by_role("button", name=group).click()
    return clicked(page, page.get_by_role("menuitem", name=title), title)


def measured(root: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds by page, and by page and section."""
    seconds = defaultdict[str, list[float]](list)
    with opened(root, port=PORT) as (address, page):
        page.goto(address)
        page.locator(".hl-grid .cell").first.wait_for(timeout=SLOW)
        titles = [title for listed in GROUPS.values() for title in listed if title != "Attention"]
        for at in range(rounds + 1):  # the first visit computes
            for title in [*titles, "Attention"]:
                seconds[title].append(turned(page, title))
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
