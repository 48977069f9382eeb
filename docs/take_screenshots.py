"""The pictures of README, taken from the running app.

    make app                                   # in one terminal
    .venv/bin/python docs/take_screenshots.py  # in another

Needs the requirements of requirements-dev.txt and a Chromium on the machine.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

FOLDER = Path(__file__).parent / "screenshots"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
TRANSLATED = "/?model=translator&stream=cross&text=He+has+been+sick+since+last+week.&layer=1&head=5"
# name: path and query of the view, colour scheme, width and height in pixels
VIEWS = {
    "attention": ("/", "light", 1440, 900),
    "attention-dark": ("/?hide=true&words=true&layer=1&head=7", "dark", 1900, 900),
    "compare": ("/compare", "light", 1440, 1500),
    "cross": (TRANSLATED, "light", 1440, 900),
    "layernorm": ("/layernorm", "light", 1440, 1100),
    "positions": ("/positions", "dark", 1440, 1150),
    "costs": ("/costs", "light", 1440, 1500),
    "phone": ("/", "light", 390, 1250),
}


def take(browser: Browser, address: str, name: str) -> None:
    path, scheme, width, height = VIEWS[name]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(address + path)
    page.get_by_text("Exact on this text").first.wait_for(state="attached", timeout=60_000)
    page.wait_for_timeout(4000)  # charts fade in
    page.screenshot(path=FOLDER / f"{name}.png")
    page.close()


def main(address: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in VIEWS:
            take(browser, address, name)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8501")
