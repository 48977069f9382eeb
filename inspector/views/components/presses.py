"""A reader's press counts once: it opens a popover for good, and is one step of the browser's Back. Nothing is drawn.

Streamlit draws another arrow in an open popover's button. Where that takes the browser more than 50 ms it then finds
the clicked arrow outside the popover, and closes it again. So a click on anything in the button becomes one on the
button. And Streamlit makes a step of Back of every value that a run puts into the address: a link that names two
defaults, or a cell that opens two heads, would take three presses of Back. Only the first after a press stays one.
"""

from __future__ import annotations

from inspector.views.components import files

_WATCH = """
let pressed = false;
const press = () => { pressed = true; };
const goBack = () => { pressed = false; };
const onButton = (event) => {
  const button = event.target.closest?.("[data-testid=stPopoverButton]");
  if (!button || button === event.target) return;
  event.stopImmediatePropagation();
  button.click();
};
const mount = () => {
  const { pushState, replaceState } = History.prototype;
  history.pushState = (...entry) => {
    (pressed ? pushState : replaceState).apply(history, entry);
    pressed = false;
  };
  document.addEventListener("click", onButton, true);
  for (const kind of ["pointerdown", "keydown", "click"]) document.addEventListener(kind, press, true);
  addEventListener("popstate", goBack);
  return () => {
    delete history.pushState;
    document.removeEventListener("click", onButton, true);
    for (const kind of ["pointerdown", "keydown", "click"]) document.removeEventListener(kind, press, true);
    removeEventListener("popstate", goBack);
  };
};
"""

_mount = files.declared("presses", _WATCH)


def watch() -> None:
    """Follow the reader's presses on the whole page."""
    _mount(key="presses", height=1)
