"""Parts that the benchmarks in a browser share: a page served as `make app` serves it, Chromium, and a text."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import sleep

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
