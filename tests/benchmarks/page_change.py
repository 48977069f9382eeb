"""A page change, a section change and another head, and the first page with all imports, beside another checkout's.

    git worktree add FOLDER COMMIT
    python tests/benchmarks/page_change.py --beside FOLDER [--rounds 5]

Each checkout runs the app without a browser, in a process of its own, in turns; CPU time of the script's run once the
page and its text were seen before, as for a reader who goes back and forth. Prints the median of each round's ratios,
this checkout's over the other's, and its milliseconds.
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
"""By their addresses, which stay where a title is changed."""
SECTIONS = {
    "layernorm": ("Gamma and beta", "What each step changes"),
    "block": ("What each part adds", "FFN"),
    "scores": ("Queries and keys", "Dot or cosine"),
    "positions": ("Does it matter", "By distance"),
}
"""Two sections of a page that no reader has to start, by their titles, as a link has them."""
MEASURE = """
import json, sys, time
start = time.process_time()
from tests.inspector.views.page import PATHS, opened, turned
pages, sections = json.loads(sys.argv[1])
titles = {path.split("/")[1]: title for title, path in PATHS.items()}
def taken(run):
    start = time.process_time()
    run()
    return 1000 * (time.process_time() - start)
app = opened()
found = {"the first page, imports included": 1000 * (time.process_time() - start)}
for page in pages:
    turned(app, titles[page]), turned(app, "Attention")
    found["to " + page] = taken(lambda: turned(app, titles[page]))
    for section in sections.get(page, ()):
        app.query_params["section"] = section
        app.run()
        assert not app.exception, app.exception
    for section in sections.get(page, ()):
        app.query_params["section"] = section
        found[page + ", " + section] = taken(app.run)
turned(app, "Attention")
for head in range(1, 8):
    app.session_state["link.held"] |= {"layer": 2, "head": head}
    found["another head"] = taken(app.run)
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
