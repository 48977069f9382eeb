"""Seconds from a click on a head of the page Atlas to its card: a grid of 24 x 16 heads in Chromium, with a treebank.

    python -m tests.benchmarks.atlas_page

A random BERT of that many heads is measured over the treebank of the tests, and the page opened on it: ten clicks on
heads drawn at random, each timed until the card's sentence names the head and the page rests.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from urllib.request import urlopen

from playwright.sync_api import sync_playwright

from inspector import atlas
from models import fetch
from tests.benchmarks.running_app import CHROMIUM, FLAGS, ROOT

LAYERS, HEADS = 24, 16
CLICKS = 10
PORT = 8699
TREES = ROOT / "tests" / "inspector" / "atlas" / "sentences.conllu"


def main() -> None:
    with TemporaryDirectory() as folder:
        model = save(Path(folder) / "models" / "wide")
        atlas.build(str(model), [TREES], out=Path(folder) / "atlases" / "wide", block_texts=8)
        environment = {
            **os.environ,
            "HEADLIGHT_ROOT": str(Path(folder) / "models"),
            "HEADLIGHT_ATLASES": str(Path(folder) / "atlases"),
        }
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(PORT)]
        server = subprocess.Popen([*command, "--server.headless", "true"], cwd=ROOT, env=environment)
        try:
            took = clicks(model)
        finally:
            server.terminate()
    print(f"{LAYERS} x {HEADS} heads: " + ", ".join(f"{one:.2f}" for one in took) + " s")
    print(f"median {sorted(took)[len(took) // 2]:.2f} s from the click to the head's card")


def save(folder: Path) -> Path:
    """Save a random BERT of 24 layers of 16 heads, with MiniLM's tokenizer."""
    from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

    tokenizer = AutoTokenizer.from_pretrained(fetch.folder("minilm"))
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
    BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def clicks(model: Path) -> list[float]:
    """Seconds of each click."""
    for _ in range(100):
        try:
            urlopen(f"http://127.0.0.1:{PORT}/_stcore/health").read()
            break
        except OSError:
            sleep(0.2)
    took = []
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 1100})
        page.goto(f"http://127.0.0.1:{PORT}/")
        rests = ".stApp[data-test-script-state='notRunning']"
        page.wait_for_selector(rests)
        page.get_by_text("Another model").click()
        page.get_by_role("textbox", name="Name on the hub").fill(str(model))
        page.get_by_role("button", name="Look").click()
        page.get_by_role("button", name="Load").click()
        page.get_by_text("Exact on this text").first.wait_for(timeout=60_000)
        page.get_by_test_id("stTopNav").get_by_role("button", name="Many texts").click()
        page.get_by_role("menuitem", name="Atlas").click()
        canvas = page.get_by_test_id("stBidiComponentIsolated").locator("canvas").first
        canvas.wait_for(timeout=60_000)
        page.wait_for_timeout(2000)
        box = canvas.bounding_box()
        assert box is not None
        chance = random.Random(0)
        for _ in range(CLICKS):
            layer, head = chance.randrange(LAYERS), chance.randrange(HEADS)
            x, y = (head + 0.5) * box["width"] / HEADS, (layer + 0.5) * box["height"] / LAYERS
            begun = perf_counter()
            page.mouse.click(box["x"] + x, box["y"] + y)
            page.get_by_text(f"layer {layer}, head {head} ").first.wait_for(timeout=30_000)
            took.append(perf_counter() - begun)
            page.wait_for_timeout(700)
        browser.close()
    return took


if __name__ == "__main__":
    main()
