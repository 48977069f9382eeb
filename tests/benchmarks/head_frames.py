"""Another head in Chromium: from a key or a click to its picture, and the bytes that the server sends for it.

    python tests/benchmarks/head_frames.py [--beside a checkout] [--rounds 25]

Serves each checkout by itself and opens MiniLM on texts of 13, 64, 110 and 512 tokens. A round presses ] in the head's
view and clicks another head of the grid, and waits until the page rests. Times are from the event to the end of the
second frame after the view last drew; the first answer of the server is drawn over the picture that the browser drew by
itself, which changes nothing in it, so that only drawings within 100 ms of each other are waited for. Prints medians.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parent))
os.environ["HF_HUB_OFFLINE"] = "1"

from playwright.sync_api import Page
from running_app import IN_PAGE, opened, print_medians, text_of

TOKENS = (13, 64, 110, 512)
PORT = 8671
SLOW = 120_000
ACTS = {
    "key": """() => {
      const view = deep(document).find((e) => e.matches(".hl-head"));
      view.dispatchEvent(new KeyboardEvent("keydown", { key: "]", bubbles: true }));
    }""",
    "click": """() => {
      const cells = deep(document).filter((e) => e.matches(".hl-grid .cell"));
      const at = cells.findIndex((e) => e.ariaSelected === "true");
      cells[(at + 7) % cells.length].click();
    }""",
}


def rests(page: Page) -> None:
    """Wait until the script rests, also the run that a head which opened at once asks for half a second later."""
    page.wait_for_timeout(700)
    page.locator(".stApp[data-test-script-state='notRunning']").wait_for(state="attached", timeout=SLOW)


def measured(root: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds by "key" or "click" and tokens, and bytes a head."""
    measures: dict[str, list[float]] = {}
    with opened(root, port=PORT) as (address, page):
        received: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
        for tokens in TOKENS:
            page.goto(f"{address}?model=minilm&text={quote(text_of(tokens))}")
            page.locator(".hl-grid .cell").first.wait_for(timeout=SLOW)
            page.locator(".hl-head canvas").first.wait_for(timeout=SLOW)
            rests(page)
            for _ in range(rounds):
                for act, script in ACTS.items():
                    received.clear()
                    took = page.evaluate(f"async () => {{ {IN_PAGE} return untilDrawn({script}, '.hl-head', 100); }}")
                    rests(page)
                    measures.setdefault(f"{act}, {tokens} tokens, ms", []).append(1000 * took)
                    measures.setdefault(f"bytes, {tokens} tokens", []).append(sum(received))
    return measures


if __name__ == "__main__":
    print_medians(measured, about=__doc__, rounds=25, digits=1)
