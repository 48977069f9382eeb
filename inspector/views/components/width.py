"""The width of the reader's window, which Streamlit tells no page: narrow or not. Nothing is drawn."""

from __future__ import annotations

import streamlit as st

# A wide window sends nothing, so its first page runs once. `data` is what the server takes to be true.
_WATCH = """
// Below the first width Streamlit's sidebar covers the page; below the second, three columns are too many.
const [covered, stacked] = [767.98, 1099.98].map((width) => matchMedia(`(max-width: ${width}px)`));
export default ({ data, setStateValue }) => {
  const report = () => {
    const window = { covered: covered.matches, stacked: stacked.matches };
    if (JSON.stringify(window) !== JSON.stringify(data)) setStateValue("window", window);
  };
  report();
  for (const query of [covered, stacked]) query.addEventListener("change", report);
  return () => [covered, stacked].forEach((query) => query.removeEventListener("change", report));
};
"""
_KEY = "width"

_mount = st.components.v2.component("headlight_width", js=_WATCH)


def is_narrow() -> bool:
    """Return True if the sidebar covers the page in the reader's window; False until the window has told it."""
    return _told("covered")


def is_stacked() -> bool:
    """Return True if the window is too narrow for three columns beside the sidebar; False until it has told it."""
    return _told("stacked")


def watch() -> None:
    """Run the script again when the window gets narrow or wide."""
    data = {"covered": is_narrow(), "stacked": is_stacked()}
    _mount(key=_KEY, data=data, height=1, on_window_change=lambda: None)


def _told(name: str) -> bool:
    match st.session_state.get(_KEY, {}).get("window"):
        case {**window}:
            return bool(window.get(name))
    return False
