"""The page at 512 tokens in headless Chromium: from a click to what it draws, and the bytes on the wire.

    python tests/benchmarks/grid.py

The app runs as `make app` starts it. Clicks alternate between what redraws the grid (hiding special tokens changes
every thumbnail) and what opens a head; medians of 9. Targets: the grid of 6 x 12 heads <= 0.6 s and <= 1.2 MB.
The clock stops at the second frame after the canvas changed for the last time, once it rests for half a second. Then
the open head: from a pointer's move to its tooltip (target 50 ms), and from a key to the head beside (0.3 s).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import urllib.request
from pathlib import Path
from time import sleep

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[2]
PORT = 8653
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
# Runs in the page: click, then watch the canvas until its picture rests.
WATCH = """
async ({ click, component }) => {
  const inside = (e) => (e.shadowRoot ? [e, ...deep(e.shadowRoot)] : [e]);
  const deep = (root) => [...root.querySelectorAll("*")].flatMap(inside);
  const find = (test) => deep(document).find(test);
  const canvases = () => deep(document).filter((e) => e.tagName === "CANVAS" && e.closest(component));
  const picture = () => canvases().map((c) => c.toDataURL()).join();
  const frame = () => new Promise(requestAnimationFrame);
  const before = picture();
  const label = find((e) => e.tagName === "LABEL" && e.innerText === click);
  const target = label ? label.querySelector("input") : find((e) => e.getAttribute("aria-label")?.startsWith(click));
  const start = performance.now();
  target.click();
  let seen = before;
  let last = start;
  while (performance.now() - (seen === before ? start : last) < (seen === before ? 10_000 : 500)) {
    await frame();
    const now = picture();
    if (now === seen) continue;
    seen = now;
    await frame();
    await frame();
    last = performance.now();
  }
  return (last - start) / 1000;
}
"""
# Runs in the page: milliseconds from a pointer's move over the map to the frame that shows what it says.
HOVER = """
async () => {
  const inside = (e) => (e.shadowRoot ? [e, ...deep(e.shadowRoot)] : [e]);
  const deep = (root) => [...root.querySelectorAll("*")].flatMap(inside);
  const [plot, tip] = [".plot", ".tip"].map((name) => deep(document).find((e) => e.matches(name)));
  const { left, top, width, height } = plot.getBoundingClientRect();
  const frame = () => new Promise(requestAnimationFrame);
  const times = [];
  for (let i = 0; i < 40; i++) {
    await frame();
    const before = tip.textContent;
    const place = { clientX: left + ((i * 37) % 97) / 97 * width, clientY: top + ((i * 53) % 89) / 89 * height };
    const start = performance.now();
    const kind = { bubbles: true, composed: true, pointerType: "mouse" };
    plot.dispatchEvent(new PointerEvent("pointermove", { ...kind, ...place }));
    while (tip.textContent === before && performance.now() - start < 1000) await frame();
    times.push(performance.now() - start);
  }
  return times;
}
"""


def text_of(tokens: int) -> str:
    words = ("the", "cat", "sat", "on", "a", "mat", "and", "wanted", "milk", "from", "some", "big", "river", "bank")
    return " ".join(words[(i * 7 + i // 5) % len(words)] for i in range(tokens - 2))


def measure(page: Page, received: list[int], click: str, component: str) -> tuple[float, int]:
    received.clear()
    seconds = page.evaluate(WATCH, {"click": click, "component": component})
    page.wait_for_timeout(500)
    return seconds, sum(received)


def main() -> None:
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={PORT}", "--server.headless=true"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(60):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{PORT}/_stcore/health", timeout=2)
                break
            except OSError:
                sleep(0.5)
        with sync_playwright() as driver:
            run(driver.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS).new_page())
    finally:
        server.terminate()


def run(page: Page) -> None:
    received: list[int] = []
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.on("websocket", lambda ws: ws.on("framereceived", lambda frame: received.append(len(frame))))
    page.goto(f"http://127.0.0.1:{PORT}/?layer=1&head=1")
    page.get_by_role("gridcell").first.wait_for(timeout=60_000)
    page.get_by_label("Text", exact=True).fill(text_of(512))
    page.get_by_role("button", name="Inspect").click()
    page.get_by_text("512 tokens of at most 512").wait_for(timeout=60_000)
    page.wait_for_timeout(2000)
    grids = [measure(page, received, "Hide special tokens", ".hl-grid") for _ in range(9)]
    heads = [measure(page, received, f"layer {i % 6}, head {(i * 5) % 12}", ".hl-head") for i in range(2, 11)]
    hovers = page.evaluate(HOVER)
    print(f"n=512, hover to tooltip: median {statistics.median(hovers):.0f} ms, slowest {max(hovers):.0f} ms")
    for name, results in (("grid redrawn (options changed)", grids), ("head opened", heads)):
        seconds, sizes = zip(*results, strict=True)
        times = f"first {seconds[0]:.2f} s, median {statistics.median(seconds):.2f} s, slowest {max(seconds):.2f} s"
        print(f"n=512, {name}: {times}; at most {max(sizes) / 1e6:.2f} MB received")


if __name__ == "__main__":
    main()
