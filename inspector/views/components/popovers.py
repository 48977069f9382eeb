"""Popovers that stay open after the click that opened them, in a slow browser too. Nothing is drawn.

Streamlit draws another arrow in an open popover's button. Where that takes the browser more than 50 ms it then finds
the clicked arrow outside the popover, and closes it again. So a click on anything in the button becomes one on the
button.
"""

from __future__ import annotations

from inspector.views.components import files

_WATCH = """
const onButton = (event) => {
  const button = event.target.closest?.("[data-testid=stPopoverButton]");
  if (!button || button === event.target) return;
  event.stopImmediatePropagation();
  button.click();
};
const mount = () => {
  document.addEventListener("click", onButton, true);
  return () => document.removeEventListener("click", onButton, true);
};
"""

_mount = files.declared("popovers", _WATCH)


def watch() -> None:
    """Follow the clicks on all popovers of the page."""
    _mount(key="popovers", height=1)
