"""A text of 8,192 tokens in the page: from pressing Inspect to the head on the screen, Stop, and a move of its window.

    python tests/benchmarks/long_text.py [--tokens 8192] [--layers 12]

The app runs as `make app` starts it, with a model of ModernBERT's shape in a local folder; the model is loaded and a
short text was read before. Seconds by the clock, in headless Chromium.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["HF_HUB_OFFLINE"] = "1"

import modern_bert
from playwright.sync_api import Page, expect, sync_playwright
from running_app import CHROMIUM, FLAGS, serve, text_of

LIMITS = {
    "HEADLIGHT_TOKENS": "8192",
    "HEADLIGHT_CHARACTERS": "100000",
    "HEADLIGHT_CAPTURE_BYTES": "4GB",
    "HEADLIGHT_CACHE_MB": "2048",
}
PICTURE = "(canvas) => canvas.toDataURL().length"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--layers", type=int, default=12)
    arguments = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place) / "modern"
        modern_bert.save(folder, layers=arguments.layers)
        with serve(port=8655, environment={**LIMITS, "HEADLIGHT_ROOT": place}) as address, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            page.set_default_timeout(300_000)
            page.goto(address)
            load(page, folder)
            measure(page, text_of(arguments.tokens), arguments)


def load(page: Page, folder: Path) -> None:
    page.get_by_role("gridcell").first.wait_for()
    page.get_by_text("Another model").click()
    page.get_by_role("textbox", name="Name on the hub, or folder").fill(str(folder))
    page.get_by_role("button", name="Look", exact=True).click()
    page.get_by_role("button", name="Load").click()
    page.get_by_text("of at most 8192").wait_for()
    page.wait_for_timeout(2000)


def inspect(page: Page, text: str) -> float:
    """Press Inspect on a text; when it was pressed."""
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Inspect").first.click()
    return perf_counter()


def measure(page: Page, text: str, arguments: argparse.Namespace) -> None:
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {arguments.layers} layers")
    inspect(page, text)
    page.get_by_text("Reading the text: layer").wait_for()
    page.wait_for_timeout(2000)
    start = perf_counter()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("press Inspect to continue").wait_for()
    print(f"n={arguments.tokens}: Stop answered in {perf_counter() - start:.1f} s")
    start = perf_counter()
    page.get_by_role("button", name="Inspect").last.click()
    page.get_by_text(f"{arguments.tokens} tokens of at most").wait_for()
    read = perf_counter() - start
    page.get_by_text(f"A window of this long text: queries 0 to 511 of {arguments.tokens:,}").wait_for()
    canvas = page.locator(".hl-head canvas.cells")
    canvas.wait_for()
    print(f"from Inspect to the sidebar's numbers {read:.1f} s, to the head's picture {perf_counter() - start:.1f} s")
    before = canvas.evaluate(PICTURE)
    field = page.get_by_role("spinbutton", name="Queries from")
    field.fill(str(arguments.tokens // 2))
    start = perf_counter()
    field.press("Enter")
    expect(page.get_by_text(f"queries {arguments.tokens // 2} to {arguments.tokens // 2 + 511} of")).to_be_visible()
    while canvas.evaluate(PICTURE) == before and perf_counter() - start < 60:
        sleep(0.01)
    print(f"the window moved in {perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
