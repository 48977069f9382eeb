"""The page at 512 tokens in headless Chromium: from a click to what it draws, and the bytes on the wire.

    python tests/benchmarks/grid.py

The app runs as `make app` starts it. Clicks alternate between what redraws the grid (hiding special tokens changes
every thumbnail) and what opens a head; medians of 9. Targets: the grid of 6 x 12 heads <= 0.6 s and <= 1.2 MB.
The clock stops at the second frame after the canvas changed for the last time, once it rests for half a second. Then
the open head: from a pointer's move to its tooltip (target 50 ms), and from a key to the head beside (0.3 s).
"""

from __future__ import annotations

import os
import statistics

from playwright.sync_api import Page, sync_playwright
from running_app import CHROMIUM, FLAGS, IN_PAGE, serve, text_of

# Runs in the page: a click, or a key in the open head; until the picture rests.
WATCH = (
    "async ({ act, component }) => {"
    + IN_PAGE
    + """
  const find = (test) => deep(document).find(test);
  const press = new KeyboardEvent("keydown", { key: act, bubbles: true, composed: true });
  const label = find((e) => e.tagName === "LABEL" && e.innerText === act);
  const target = label ? label.querySelector("input") : find((e) => e.getAttribute("aria-label")?.startsWith(act));
  const plot = find((e) => e.matches(".hl-head .plot"));
  return untilDrawn(() => (act.length > 1 ? target.click() : plot.dispatchEvent(press)), component, 500);
}
"""
)
# Runs in the page: milliseconds from a pointer's move over the map to the frame that shows what it says.
HOVER = (
    "async () => {"
    + IN_PAGE
    + """
  const [plot, tip] = [".plot", ".tip"].map((name) => deep(document).find((e) => e.matches(name)));
  const { left, top, width, height } = plot.getBoundingClientRect();
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
)


def measure(page: Page, received: list[int], act: str, component: str) -> tuple[float, int]:
    received.clear()
    seconds = page.evaluate(WATCH, {"act": act, "component": component})
    page.wait_for_timeout(500)
    return seconds, sum(received)


def main() -> None:
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with serve(port=8653) as address, sync_playwright() as driver:
        run(driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS).new_page(), address)


def run(page: Page, address: str) -> None:
    received: list[int] = []
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.on("websocket", lambda ws: ws.on("framereceived", lambda frame: received.append(len(frame))))
    page.goto(f"{address}?layer=1&head=1")
    page.get_by_role("gridcell").first.wait_for(timeout=60_000)
    page.get_by_label("Text", exact=True).fill(text_of(512))
    page.get_by_role("button", name="Inspect").click()
    page.get_by_text("512 tokens of at most 512").wait_for(timeout=60_000)
    page.wait_for_timeout(2000)
    page.get_by_role("button", name="Options").click()  # its switches are in the page while it is open
    page.get_by_text("Hide special tokens").wait_for()
    grids = [measure(page, received, "Hide special tokens", ".hl-grid") for _ in range(9)]
    heads = [measure(page, received, f"layer {i % 6}, head {(i * 5) % 12}", ".hl-head") for i in range(2, 11)]
    steps = [measure(page, received, "]", ".hl-head") for _ in range(9)]
    hovers = page.evaluate(HOVER)
    print(f"n=512, hover to tooltip: median {statistics.median(hovers):.0f} ms, slowest {max(hovers):.0f} ms")
    named = {"grid redrawn (options changed)": grids, "head opened by a click": heads, "head opened by a key": steps}
    for name, results in named.items():
        seconds, sizes = zip(*results, strict=True)
        times = f"first {seconds[0]:.2f} s, median {statistics.median(seconds):.2f} s, slowest {max(seconds):.2f} s"
        print(f"n=512, {name}: {times}; at most {max(sizes) / 1e6:.2f} MB received")


if __name__ == "__main__":
    main()
