"""The page at 512 tokens in headless Chromium: from a click to what it draws, and the bytes on the wire.

    python tests/benchmarks/grid.py [--beside FOLDER]

With --beside the app of another checkout (`git worktree add FOLDER COMMIT`) is served too; every act is done in both,
in turn, so that the ratios of the medians hold on a busy machine.

The app runs as `make app` starts it. Clicks alternate between what redraws the grid (hiding special tokens changes
every thumbnail) and what opens a head; medians of 9. Targets: the grid of 6 x 12 heads <= 0.6 s and <= 1.2 MB.
The clock stops at the second frame after the canvas changed for the last time, once it rests for half a second. Then
the open head: from a pointer's move to its tooltip (target 50 ms), and from a key to the head beside (0.3 s).
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright
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


ACTS: dict[str, tuple[str, Callable[[int], str]]] = {
    "grid redrawn (options changed)": (".hl-grid", lambda turn: "Hide special tokens"),
    "head opened by a click": (".hl-head", lambda turn: f"layer {turn % 6}, head {(turn * 5) % 12}"),
    "head opened by a key": (".hl-head", lambda turn: "]"),
}
"""The acts that are timed: the component that draws the answer, and what is clicked or pressed in each turn."""
TURNS = range(2, 11)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path, help="another checkout of the project")
    beside: Path | None = parser.parse_args().beside
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with ExitStack() as stack:
        addresses = [stack.enter_context(serve(port=8653))]
        if beside is not None:
            addresses.append(stack.enter_context(serve(port=8654, root=beside.resolve())))
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        run([opened(browser.new_context(), address) for address in addresses])


def opened(context: BrowserContext, address: str) -> tuple[Page, list[int]]:
    """A page that shows 512 tokens, and the list of the bytes that it receives."""
    page = context.new_page()
    received: list[int] = []
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.on("websocket", lambda ws: ws.on("framereceived", lambda frame: received.append(len(frame))))
    page.set_default_timeout(300_000)
    page.goto(f"{address}?layer=1&head=1")
    page.get_by_role("gridcell").first.wait_for()
    page.get_by_label("Text", exact=True).fill(text_of(512))
    page.get_by_role("button", name="Inspect").click()
    page.get_by_text("512 tokens of at most 512").wait_for()
    page.wait_for_timeout(2000)
    options = page.get_by_role("button", name="Options")
    if options.count():  # its switches are in the page while it is open; older versions show them at once
        options.click()
    page.get_by_text("Hide special tokens").wait_for()
    return page, received


def run(pages: list[tuple[Page, list[int]]]) -> None:
    for name, (component, act) in ACTS.items():
        results: list[list[tuple[float, int]]] = [[] for _ in pages]
        for turn in TURNS:
            for (page, received), measured in zip(pages, results, strict=True):
                page.bring_to_front()
                measured.append(measure(page, received, act(turn), component))
        medians = []
        for measured in results:
            seconds, sizes = zip(*measured, strict=True)
            medians.append(statistics.median(seconds))
            times = f"first {seconds[0]:.2f} s, median {medians[-1]:.2f} s, slowest {max(seconds):.2f} s"
            print(f"n=512, {name}: {times}; at most {max(sizes) / 1e6:.2f} MB received")
        if len(medians) == 2:
            print(f"    this checkout takes {medians[0] / medians[1]:.2f} of the time of the one beside")
    for page, _ in pages:
        page.bring_to_front()
        hovers = page.evaluate(HOVER)
        print(f"n=512, hover to tooltip: median {statistics.median(hovers):.0f} ms, slowest {max(hovers):.0f} ms")


if __name__ == "__main__":
    main()
