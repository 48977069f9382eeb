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
SWAPPED = "/what_if?model=translator&part=Swap+a+word&text=The+cat+is+sleeping+on+the+bed."
WRITTEN = "/generate?model=translator&text=The+cat+is+sleeping+on+the+bed."
REPLAYED = "/training?run=mini-bert"
# name: path and query of the view, colour scheme, width and height in pixels
VIEWS = {
    "attention": ("/", "light", 1440, 900),
    "attention-dark": ("/?hide=true&words=true&layer=1&head=7", "dark", 1900, 900),
    "why": ("/?layer=1&head=7&query=5&key=6&why=true&why_sorted=true", "light", 1440, 1900),
    "norms": ("/?kind=norm-weighted&layer=1&head=7", "dark", 1440, 1300),
    "compare": ("/compare", "light", 1440, 1500),
    "hide": ("/what_if?model=mini-bert", "light", 1440, 1500),
    "swap": (SWAPPED, "dark", 1440, 1700),
    "drop": ("/what_if?model=mini-bert&part=Drop+heads", "light", 1440, 1700),
    "generate": (WRITTEN, "dark", 1440, 1500),
    "training": (REPLAYED, "light", 1440, 2600),
    "lab": ("/lab", "light", 1440, 2000),
    "cross": (TRANSLATED, "light", 1440, 900),
    "block": ("/block?model=mini-gpt", "light", 1440, 1050),
    "scores": ("/scores?layer=1&head=7", "light", 1440, 1500),
    "layernorm": ("/layernorm", "light", 1440, 1100),
    "positions": ("/positions", "dark", 1440, 1150),
    "costs": ("/costs", "light", 1440, 1500),
    "batch": ("/batch", "light", 1440, 1000),
    "time": ("/time?section=RNN%2C+LSTM%2C+GRU", "light", 1440, 1250),
    "questions": ("/questions?q=16", "light", 1440, 1100),
    "tokens": ("/tokens?section=How+pieces+are+learned", "light", 1440, 1250),
    "long": ("/tokens?section=Long+texts", "dark", 1440, 1150),
    "leaks": ("/batch?section=Where+a+mask+leaks", "dark", 1440, 1000),
    "atlas": ("/atlas?by=obj+governor&figure=Relations", "light", 1440, 1300),
    "phone": ("/", "light", 390, 1250),
}


def take(browser: Browser, address: str, name: str) -> None:
    path, scheme, width, height = VIEWS[name]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(address + path)
    reads = name not in ("training", "lab", "questions")  # these record nothing of the sidebar's text
    ready = "Exact on this text" if reads else name.capitalize()
    page.get_by_text(ready).first.wait_for(state="attached", timeout=60_000)
    if name == "lab":
        page.get_by_role("button", name="Start").click()
        page.get_by_text("One text, and where each side looks").first.wait_for(state="attached", timeout=120_000)
    if name == "questions":
        page.get_by_role("button", name="Just show me").click()
        page.get_by_text("What would refute it").wait_for(state="attached", timeout=120_000)
    page.get_by_test_id("stSkeleton").first.wait_for(state="hidden", timeout=120_000)  # all that is drawn has come
    page.wait_for_timeout(6000)  # charts fade in
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
