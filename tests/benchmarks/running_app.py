"""What the benchmarks in a browser share: a page served as `make app` serves it, Chromium, and a text."""

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
# For scripts that run in the page: all its elements, those of shadow roots too, and the next frame.
IN_PAGE = """
const inside = (e) => (e.shadowRoot ? [e, ...deep(e.shadowRoot)] : [e]);
const deep = (root) => [...root.querySelectorAll("*")].flatMap(inside);
const frame = () => new Promise(requestAnimationFrame);
"""
_WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "wanted", "milk", "from", "some", "big", "river", "bank")


def text_of(tokens: int) -> str:
    """Words that BERT's tokenizer takes whole: with [CLS] and [SEP] so many tokens."""
    return " ".join(_WORDS[(i * 7 + i // 5) % len(_WORDS)] for i in range(tokens - 2))


@contextmanager
def serve(page: str | Path = "app.py", *, port: int, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of a Streamlit page, once it answers."""
    command = [sys.executable, "-m", "streamlit", "run", str(page), f"--server.port={port}", "--server.headless=true"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, stdout=quiet, stderr=quiet, env={**os.environ, **(environment or {})})
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
