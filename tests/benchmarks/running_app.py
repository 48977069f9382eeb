"""Parts that the benchmarks in a browser share: a page served as `make app` serves it, Chromium, and a text."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import sleep

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[2]
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
# For scripts that run in the page. deep: all its elements, those of shadow roots too. frame: the next one. untilDrawn:
# seconds from an act to the second frame after the last drawing on a canvas within what a selector names, once none
# came for `rest` milliseconds; null where none came. Each drawing notes itself, so that watching costs nothing.
IN_PAGE = """
const inside = (e) => (e.shadowRoot ? [e, ...deep(e.shadowRoot)] : [e]);
const deep = (root) => [...root.querySelectorAll("*")].flatMap(inside);
const frame = () => new Promise(requestAnimationFrame);
const untilDrawn = async (act, component, rest) => {
  const { prototype } = CanvasRenderingContext2D;
  const originals = ["putImageData", "drawImage", "stroke", "fillRect"].map((name) => [name, prototype[name]]);
  let drew = false;
  for (const [name, draw] of originals) {
    prototype[name] = function (...what) {
      drew ||= Boolean(this.canvas.closest(component));
      return draw.apply(this, what);
    };
  }
  const start = performance.now();
  let last = null;
  act();
  while (last === null ? performance.now() - start < 60_000 : performance.now() - last < rest) {
    await frame();
    if (!drew) continue;
    drew = false;
    await frame();
    await frame();
    last = performance.now();
  }
  for (const [name, draw] of originals) prototype[name] = draw;
  return last === null ? null : (last - start) / 1000;
};
"""
_WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "wanted", "milk", "from", "some", "big", "river", "bank")


def text_of(tokens: int) -> str:
    """Words that BERT's tokenizer takes whole: with [CLS] and [SEP] so many tokens."""
    return " ".join(_WORDS[(i * 7 + i // 5) % len(_WORDS)] for i in range(tokens - 2))


@contextmanager
def serve(
    page: str | Path = "app.py",
    *,
    port: int,
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
    root: Path = ROOT,
) -> Iterator[str]:
    """Yield the address of a Streamlit page of the checkout at `root`, once it answers; log: what the server says."""
    command = [sys.executable, "-m", "streamlit", "run", str(page), f"--server.port={port}", "--server.headless=true"]
    with Path(log or os.devnull).open("w") as said:
        process = subprocess.Popen(
            command, cwd=root, stdout=said, stderr=said, env={**os.environ, **(environment or {})}
        )
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2)
                break
            except OSError:
                sleep(0.5)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


@contextmanager
def opened(root: Path, *, port: int) -> Iterator[tuple[str, Page]]:
    """Yield the address of the app of the checkout at `root`, and an empty page of a Chromium beside it."""
    with serve(port=port, root=root) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield address, browser.new_page(viewport={"width": 1440, "height": 900})
        browser.close()


def print_medians(
    measure: Callable[[Path, int], Mapping[str, list[float]]], *, about: str, rounds: int, digits: int
) -> None:
    """Read the command line, and print the medians of what `measure` gives of each checkout, in columns.

    measure: takes a checkout and the number of rounds; about: the script's docstring; rounds: the default.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path, help="another checkout, measured first")
    parser.add_argument("--rounds", type=int, default=rounds)
    arguments = parser.parse_args()
    results = [measure(root, arguments.rounds) for root in (arguments.beside, ROOT) if root]
    for name in results[-1]:
        columns = (f"{median(result[name]):12.{digits}f}" if name in result else f"{'-':>12}" for result in results)
        print(f"{name:50}", *columns, flush=True)
