"""The number of a sentence that leads to its proof: a link in the page's Markdown, and what a click on it does.

Streamlit's Markdown holds no button, but a link to a place in the page, which stays text of the sentence. This draws
nothing: it takes the clicks on that link, and brings the proof into sight. Without it the sentence reads the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from inspector.views.components import files
from inspector.views.components.clicks import reporter

LINK = "#why"  # address of the link
SWITCH = "why"  # key of the switch that opens and closes the proof
PLACE = "why-cell"  # key of the container that holds the proof

_WATCH = """
const GROWS = 10000; // milliseconds in which the proof's pictures come, on a busy machine too, and it grows
const MOVES = ["wheel", "touchmove", "keydown", "pointerdown"]; // of the reader, after whom nothing scrolls by itself
let last; // how often the proof was opened

// Scrolls until the proof fills the lower half of the window, or less where less is left of it: the map stays in sight.
function bring() {
  const [main, place] = ["[data-testid=stMain]", PLACE].map((name) => document.querySelector(name));
  if (!place) return;
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";
  const scroll = () => {
    const { top, height } = place.getBoundingClientRect();
    const hidden = top + Math.min(height, innerHeight / 2) - innerHeight;
    if (hidden > 0 || top < 0) main.scrollBy({ top: hidden, behavior });
  };
  const growing = new ResizeObserver(scroll);
  growing.observe(place);
  const end = () => {
    growing.disconnect();
    for (const move of MOVES) removeEventListener(move, end, true);
  };
  for (const move of MOVES) addEventListener(move, end, true);
  setTimeout(end, GROWS);
  document.querySelector(SWITCH)?.focus({ preventScroll: true }); // from where Tab goes on
}

const mount = ({ data, setTriggerValue }) => {
  const open = (event) => {
    if (!event.target.closest?.(LINK) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    setTriggerValue("open", true);
  };
  document.addEventListener("click", open);
  if (last !== undefined && last !== data.opened) bring();
  last = data.opened;
  return () => document.removeEventListener("click", open);
};
"""
_KEY = "proof"

_SELECTORS = json.dumps([f"a[href='{LINK}']", f".st-key-{PLACE}", f".st-key-{SWITCH} input"])

_mount = files.declared("proof", f"const [LINK, PLACE, SWITCH] = {_SELECTORS};\n{_WATCH}")


def watch(*, opened: int, on_open: Callable[[], None]) -> None:
    """Follow the link; drawn after the proof, which is brought into sight where `opened` is another number than before.

    on_open is called before the run that follows a click.
    """
    _mount(
        key=_KEY,
        data={"opened": opened},
        height=1,
        on_open_change=reporter(_KEY, "open", _clicked, lambda clicked: on_open()),
    )


def _clicked(value: object) -> bool | None:
    return True if value is True else None
