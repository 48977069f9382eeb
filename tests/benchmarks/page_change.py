"""A page change, a section change and another head, and the first page with all imports, beside another checkout's.

    git worktree add FOLDER COMMIT
    python tests/benchmarks/page_change.py --beside FOLDER [--rounds 5]

Each checkout runs the app without a browser, in a process of its own, in turns; CPU time of the script's run once the
page and its text were seen before, as for a reader who goes back and forth; of each change the median of three. Prints
the median of each round's ratios, this checkout's over the other's, and its milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
PAGES = (
    "compare",
    "scores",
    "block",
    "layernorm",
    "positions",
    "costs",
    "generate",
    "time",
    "tokens",
    "batch",
    "training",
)
"""Addresses, which stay where a title is changed."""
SECTIONS = {
    "scores": ("one", "every"),
    "layernorm": ("learned", "other"),
    "block": ("way", "added"),
    "positions": ("distance", "order"),
}
"""Sections of a page that no reader has to start: their ids, as its bar has them."""
MEASURE = """
import json, sys, time
from statistics import median
start = time.process_time()
from tests.inspector.views.page import PATHS, opened, turned
pages, sections = json.loads(sys.argv[1])
titles = {path.split("/")[1]: title for title, path in PATHS.items()}
def taken(run):
    start = time.process_time()
    run()
    assert not app.exception, app.exception
    return 1000 * (time.process_time() - start)
app = opened()
found = {"the first page, imports included": [1000 * (time.process_time() - start)]}
def change(name, run):
    found.setdefault(name, []).append(taken(run))
for page in pages:
    for _ in range(4):
        change("to " + page, lambda: turned(app, titles[page]))
        if page in sections:
            for section in sections[page]:
                change(page + ", " + section, app.segmented_control(key="section").set_value(section).run)
        turned(app, "Attention")
for head in range(12):
    app.session_state["link.held"] |= {"layer": 2, "head": head}
    change("another head", app.run)
found = {name: median(values[1:] or values) for name, values in found.items()}  # the first computes
print(json.dumps(found))
"""


def measured(root: Path) -> dict[str, float]:
    """Milliseconds of CPU of each change in the checkout at `root`."""
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-W", "ignore", "-c", MEASURE, json.dumps([PAGES, SECTIONS])]
    output = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True).stdout
    times: dict[str, float] = json.loads(output.splitlines()[-1])
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    ratios, here = defaultdict(list), defaultdict(list)
    for _ in range(arguments.rounds):
        ours, theirs = measured(ROOT), measured(arguments.beside)
        for name, milliseconds in ours.items():
            ratios[name].append(milliseconds / theirs[name])
            here[name].append(milliseconds)
    for name, values in ratios.items():
        print(f"{name:34s} {median(values):5.2f} x   {median(here[name]):7.1f} ms")


if __name__ == "__main__":
    main()
