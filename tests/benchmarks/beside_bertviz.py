"""The grid of all heads beside BertViz' model view, on the same attention, in the same Chromium, in one run.

    python tests/benchmarks/beside_bertviz.py --bertviz FOLDER [--tokens 16 64 128 512] [--patience 120]

BertViz is no requirement of this project: it and the three scripts that its page takes from a CDN come from a folder
beside it, and are served from there:
    pip install --target FOLDER --no-deps bertviz ipython traitlets decorator
    cd FOLDER && npm pack requirejs@2.3.6 d3@5.7.0 jquery@2.2.4 && for file in *.tgz; do
        mkdir -p js/$file && tar xzf $file -C js/$file; done

Models: MiniLM (6 layers of 12 heads), and a BERT of 12 layers of 12 heads with random weights. Seconds run from the
click to the second frame after the last change of what is drawn. For Headlight a click on a button: its server has the
recording, and computes every map anew; first in a new page, then five times again, as in an app that is open. For
BertViz a click on a link to its finished page, made of texts up to --largest: of 512 tokens it takes 0.9 GB. Bytes are
what the browser was sent after the first click; memory is what all of Chromium's processes hold more than before it
(proportional set size).
Targets: 12 x 12 heads at 512 tokens in 0.5 s and 1.2 MB; at 128 tokens 30 times less time than BertViz; 4,096 tokens
drawn.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from playwright.sync_api import BrowserContext, Page, Playwright, Route, sync_playwright
from playwright.sync_api import Error as NotDrawn
from running_app import CHROMIUM, FLAGS, IN_PAGE, serve, text_of
from transformers import AutoTokenizer, BertConfig, BertModel

import inspector
import models
from inspector import Trace, record
from models import fetch

LONGEST = 4096
AGAIN = 5
SCRIPTS = {"require.min.js": "require.js", "d3.min.js": "d3.min.js", "jquery.min.js": "jquery.min.js"}
# Runs in the page: a click on a button, until the picture rests for a second.
WATCH = (
    "async ({ text, component }) => {"
    + IN_PAGE
    + """
  const button = [...document.querySelectorAll("button")].find((e) => e.innerText === text);
  return untilDrawn(() => button.click(), component, 1000);
}
"""
)


@dataclass(frozen=True)
class Cost:
    """The cost of drawing: seconds, bytes sent to the browser, bytes of memory; seconds None where it was never drawn.

    again: seconds of the same click once the page has drawn such a picture, as the app has when a text is pasted.
    """

    seconds: float | None
    sent: int
    memory: int
    again: float | None = None

    def __str__(self) -> str:
        time = "not drawn" if self.seconds is None else f"{self.seconds:.2f} s"
        time += "" if self.again is None else f" (again {self.again:.2f} s)"
        return f"{time}, {self.sent / 1e6:.2f} MB sent, {self.memory / 1e6:.0f} MB of memory"


def memory(profile: str) -> int:
    """Proportional set size of all processes of the Chromium with this profile, in bytes."""
    parents = {int(p.name): _parent(p) for p in Path("/proc").iterdir() if p.name.isdigit()}
    roots = {pid for pid in parents if profile in _read(Path(f"/proc/{pid}/cmdline"))}
    family = set(roots)
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    lines = [line for pid in family for line in _read(Path(f"/proc/{pid}/smaps_rollup")).splitlines()]
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _parent(process: Path) -> int:
    fields = _read(process / "stat").rpartition(")")[2].split()
    return int(fields[1]) if fields else 0


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # the process has just ended
        return ""


@contextmanager
def chromium(driver: Playwright) -> Iterator[tuple[BrowserContext, str]]:
    """A fresh Chromium each time: what one page leaves behind is no other's."""
    with TemporaryDirectory() as profile:
        options = {"executable_path": CHROMIUM, "args": FLAGS, "viewport": {"width": 1440, "height": 1000}}
        context = driver.chromium.launch_persistent_context(profile, **options)  # type: ignore[arg-type]
        yield context, profile
        context.close()


def headlight(driver: Playwright, trace: Trace, folder: Path) -> dict[str, Cost]:
    """The grid, and a window of one head."""
    saved = folder / "trace.npz"
    inspector.save(trace, saved)
    costs = {}
    page_file = Path(__file__).with_name("grid_app.py")
    with serve(page_file, port=8654, environment={"HEADLIGHT_BENCHMARK": str(saved)}) as address:
        for what, component in (("grid", ".hl-grid"), ("window", ".hl-head")):
            with chromium(driver) as (context, profile):
                page = context.new_page()
                sent: list[int] = []
                page.on(
                    "websocket", lambda ws, sent=sent: ws.on("framereceived", lambda frame: sent.append(len(frame)))
                )
                page.goto(address)
                page.get_by_text(f"{len(trace.tokens)} tokens recorded").wait_for(timeout=120_000)
                page.wait_for_timeout(1500)
                button = "Draw the grid" if what == "grid" else "Draw a window"
                first = measure(page, profile, sent, button, component)
                again = [measure(page, profile, sent, button, component).seconds or math.inf for _ in range(AGAIN)]
                costs[what] = replace(first, again=statistics.median(again))
    return costs


def bertviz(driver: Playwright, trace: Trace, folder: Path, packages: Path, patience: int) -> Cost:
    """BertViz' model view, as it makes it for other pages."""
    sys.path.append(str(packages))  # behind this project's own packages
    from bertviz import model_view

    maps = [torch.tensor(trace.attention(layer=site.layer))[None] for site in trace.sites]
    made = model_view(maps, list(trace.tokens), html_action="return").data
    (folder / "bertviz.html").write_text(f"<!doctype html><body>{made}</body>", encoding="utf-8")
    (folder / "start.html").write_text("<button>Draw</button>", encoding="utf-8")
    scripts = {name: next(packages.glob(f"**/package/**/{file}")) for name, file in SCRIPTS.items()}

    def serve(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        route.fulfill(path=scripts[name] if name in scripts else folder / name)

    with chromium(driver) as (context, profile):
        context.route("**/*", serve)
        page = context.new_page()
        page.goto("http://bertviz.test/start.html")
        size = (folder / "bertviz.html").stat().st_size + sum(script.stat().st_size for script in scripts.values())
        before = memory(profile)
        # The page replaces the one that was clicked on, so the clock runs in the new one, from when it was asked for.
        finished = f"""() => {{
          const state = document.querySelectorAll("svg *").length;
          if (state !== window.headlightSeen) [window.headlightSeen, window.headlightAt] = [state, performance.now()];
          return state > {trace.sites[0].heads * len(trace.sites)} && performance.now() - window.headlightAt > 1000;
        }}"""
        try:
            page.goto("http://bertviz.test/bertviz.html", wait_until="commit", timeout=1000 * patience)
            page.wait_for_function(finished, timeout=1000 * patience, polling="raf")
            seconds = page.evaluate("window.headlightAt / 1000")
        except NotDrawn:  # too late, or the page was too large for Chromium
            seconds = None
        return Cost(seconds, size, memory(profile) - before)


def measure(page: Page, profile: str, sent: list[int], button: str, component: str) -> Cost:
    before = memory(profile)
    sent.clear()
    seconds = page.evaluate(WATCH, {"text": button, "component": component})
    return Cost(seconds, sum(sent), memory(profile) - before)


def twelve_by_twelve(folder: Path) -> models.LoadedModel:
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(fetch.folder("minilm"))
    tokenizer.model_max_length = LONGEST
    shape = {"num_hidden_layers": 12, "num_attention_heads": 12, "hidden_size": 384, "intermediate_size": 1536}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=LONGEST, **shape)
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return models.load(str(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bertviz", type=Path, help="where BertViz and its scripts were installed to")
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 64, 128, 512, LONGEST])
    parser.add_argument("--patience", type=int, default=120, help="seconds that BertViz has to draw")
    parser.add_argument("--largest", type=int, default=128, help="tokens of the longest text that BertViz is given")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with TemporaryDirectory() as place, sync_playwright() as driver:
        folder = Path(place)
        sides: dict[str, Callable[[], models.LoadedModel]] = {
            "6 x 12": lambda: models.load("minilm"),
            "12 x 12": lambda: twelve_by_twelve(folder / "model"),
        }
        for name, load in sides.items():
            loaded = load()
            for tokens in arguments.tokens:
                if tokens <= loaded.max_tokens:
                    compare(driver, name, record(loaded, text_of(tokens)), folder, arguments)


def compare(driver: Playwright, name: str, trace: Trace, folder: Path, arguments: argparse.Namespace) -> None:
    tokens = len(trace.tokens)
    ours = headlight(driver, trace, folder)
    print(f"{name}, n={tokens}: Headlight's grid {ours['grid']}; a head's window {ours['window']}", flush=True)
    if arguments.bertviz is None or tokens > arguments.largest:
        print("  BertViz was not asked", flush=True)
        return
    theirs = bertviz(driver, trace, folder, arguments.bertviz, arguments.patience)
    drawn = theirs.seconds is not None and ours["grid"].seconds is not None
    ratio = f": {theirs.seconds / ours['grid'].seconds:.0f} times Headlight's time" if drawn else ""  # type: ignore[operator]
    print(f"  BertViz' model view {theirs}{ratio}", flush=True)


if __name__ == "__main__":
    main()
