"""Start: from opening the address to the first head, on a server that has just been started and on one that runs.

    python tests/benchmarks/start.py

Cold: from `streamlit run app.py`, with a browser that asks for the page from the first moment on, beside importing and
loading the first model alone in a fresh Python, in turn. Warm: another visitor's first page (a browser context with an
empty cache), beside an empty page of Streamlit, in turn. The ratios hold on a busy machine too; the seconds do not.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from playwright.sync_api import Browser, Error, sync_playwright
from running_app import CHROMIUM, FLAGS, IN_PAGE, ROOT, serve

ALONE = "import models; models.load('minilm')"
EMPTY = "import streamlit as st\n\nst.title('Empty')\n"
TIMES = 3  # of a cold start
VISITS = 5  # of a warm one
# True once the map of a head is painted: a large canvas with many colours.
DRAWN = (
    f"() => {{ {IN_PAGE}"
    """
  return deep(document).some((canvas) => {
    if (canvas.tagName !== "CANVAS" || canvas.width < 200 || canvas.height < 200) return false;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    for (let i = 0; i < data.length && colours.size < 9; i += 4) {
      if (data[i + 3]) colours.add(data[i] * 65536 + data[i + 1] * 256 + data[i + 2]);
    }
    return colours.size > 8;
  });
}"""
)
TITLE = "() => document.querySelector('h1') !== null"


def opened(browser: Browser, address: str, seen: str, *, since: float | None = None) -> dict[str, float]:
    """Seconds until the title and until `seen` is true in a new visitor's page; asked for until the server answers."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    start = perf_counter() if since is None else since
    while True:
        try:
            page.goto(address, wait_until="commit")
            break
        except Error:
            sleep(0.02)
    taken = {}
    for name, condition in (("title", TITLE), ("picture", seen)):
        page.wait_for_function(condition, polling=20, timeout=300_000)
        taken[name] = perf_counter() - start
    context.close()
    return taken


def cold(browser: Browser) -> dict[str, float]:
    """Seconds from starting the server to the title and to the first head."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", "--server.headless=true"]
    start = perf_counter()
    with Path(os.devnull).open("w") as nothing:
        process = subprocess.Popen(command, cwd=ROOT, stdout=nothing, stderr=nothing)
    try:
        return opened(browser, f"http://127.0.0.1:{port}/", DRAWN, since=start)
    finally:
        process.terminate()
        process.wait()


def alone() -> float:
    """Seconds of importing and loading the first model in a Python of its own."""
    start = perf_counter()
    subprocess.run([sys.executable, "-c", ALONE], cwd=ROOT, check=True)
    return perf_counter() - start


def show(what: str, taken: list[float], beside: list[float] | None = None) -> None:
    ratio = "" if beside is None else f"{median(taken) / median(beside):.2f}"
    print(f"| {what} | {median(taken):.2f} | {min(taken):.2f} to {max(taken):.2f} | {ratio} |", flush=True)


def times(count: int, *measured: Callable[[], dict[str, float] | float]) -> list[list[dict[str, float] | float]]:
    """Call each of `measured` in turn, `count` times, and return what they gave."""
    rows = [[measure() for measure in measured] for _ in range(count)]
    return [list(column) for column in zip(*rows, strict=True)]


def main() -> None:
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| | median, s | range | ratio |\n| --- | --- | --- | --- |")
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        baseline, started = times(TIMES, alone, lambda: cold(browser))
        show("import and load alone", baseline)
        show("cold: the page's frame", [taken["title"] for taken in started], baseline)
        show("cold: the first head", [taken["picture"] for taken in started], baseline)
        page = Path(folder) / "empty.py"
        page.write_text(EMPTY, encoding="utf-8")
        with serve(page, port=8798) as empty, serve(port=8799) as address:
            opened(browser, address, DRAWN)  # the first visitor
            opened(browser, empty, TITLE)
            nothing, visits = times(
                VISITS, lambda: opened(browser, empty, TITLE), lambda: opened(browser, address, DRAWN)
            )
        beside = [taken["picture"] for taken in nothing]
        show("an empty page", beside)
        show("warm: the page's frame", [taken["title"] for taken in visits], beside)
        show("warm: the first head", [taken["picture"] for taken in visits], beside)
        browser.close()


if __name__ == "__main__":
    main()
