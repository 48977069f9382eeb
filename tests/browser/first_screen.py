"""The first screen of each page at 1440 x 900: words, controls, and how much of the picture.

    python tests/browser/first_screen.py [--beside a checkout]

Counts in the main area alone, without menus and sidebar. Words: those in sight, outside pictures, tables and fields.
Controls: what Tab stops at in sight, outside canvases; a grid of heads is one, and a row of chips or sections, within
which arrow keys lead on (test_what_if.py presses them). Picture: the part of its height
that is above the fold, in per cent; of several the first. Goals: at most 150 words, 20 controls, half of the picture.
Prints a row for each page, and the columns of the other checkout first.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["HF_HUB_OFFLINE"] = "1"

from inspector.sections.registry import PAGES
from tests.benchmarks.running_app import IN_PAGE, ROOT, opened

PORT = 8673
SLOW = 120_000
WORDS, CONTROLS, PICTURE = 150, 20, 50
RESTS = """() => document.querySelector(".stApp[data-test-script-state='notRunning'] h1")
  && !document.querySelector("[data-stale=true], [data-testid=stSpinner]")"""
COUNT = (
    f"() => {{ {IN_PAGE}"
    """
  const PICTURES = "canvas, svg, .js-plotly-plot, .hl-grid, .hl-head, .hl-matrix, .hl-steps";
  const APART = "table, textarea, input, [data-testid=stDataFrame], [data-testid=stTable], [data-testid=stSidebar]";
  const main = document.querySelector("[data-testid=stMain]");
  const within = (e, what) => {
    for (let at = e; at; at = at.parentElement ?? at.getRootNode().host) if (at.matches?.(what)) return true;
    return false;
  };
  const inSight = ({ left, right, top, bottom, width, height }) =>
    width > 1 && height > 1 && bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  const shown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const all = deep(main);
  let words = 0;
  for (const e of all) {
    if (/^(STYLE|SCRIPT)$/.test(e.tagName) || within(e, PICTURES) || within(e, APART) || !shown(e)) continue;
    if (within(e, "[data-testid=stIconMaterial]")) continue;
    for (const node of e.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE) continue;
      for (const { index, 0: word } of node.data.matchAll(/[\\p{L}\\p{N}]\\S*/gu)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        words += inSight(range.getBoundingClientRect());
      }
    }
  }
  const stops = "a[href], button, input, select, textarea, summary, [tabindex]";
  const reached = all.filter((e) =>
    e !== main && e.matches(stops) && e.tabIndex >= 0 && !e.disabled && !e.matches("canvas") && shown(e)
    && inSight(e.getBoundingClientRect()));
  const controls = new Set(reached.map((e) => e.closest("[role=radiogroup], [role=toolbar]") ?? e)).size;
  const picture = all.map((e) => [e, e.getBoundingClientRect()]).find(([e, { width, height }]) =>
    e.matches(".js-plotly-plot, .hl-grid, .hl-head, .hl-matrix, .hl-steps, canvas") && width > 150 && height > 100);
  const part = picture ? Math.min(1, (innerHeight - picture[1].top) / picture[1].height) : null;
  return [words, controls, part === null ? null : Math.max(0, Math.round(100 * part))];
}"""
)


def counted(root: Path) -> dict[str, tuple[int, int, int | None]]:
    """Words, controls and the per cent of the picture in sight, by the page's address."""
    counts: dict[str, tuple[int, int, int | None]] = {}
    with opened(root, port=PORT) as (address, page):
        for name in PAGES:
            page.goto(f"{address}{name}")
            page.wait_for_function(RESTS, timeout=SLOW)
            page.wait_for_timeout(1500)  # charts draw
            page.wait_for_function(RESTS, timeout=SLOW)
            counts[name] = tuple(page.evaluate(COUNT))
    return counts


def main() -> None:
    """Print the counts of each page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path, help="another checkout, counted first")
    arguments = parser.parse_args()
    results = [counted(root) for root in (arguments.beside, ROOT) if root]
    for name, (words, controls, picture) in results[-1].items():
        rows = " ".join("{:5} {:4} {!s:>5}".format(*result[name]) for result in results)
        over = words > WORDS or controls > CONTROLS or (picture is not None and picture < PICTURE)
        print(f"{name or 'attention':12} {rows}{'   over' if over else ''}", flush=True)


if __name__ == "__main__":
    main()
