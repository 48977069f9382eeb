"""The width of the reader's window, which Streamlit tells no page: narrow or not. Nothing is drawn."""

from __future__ import annotations

import streamlit as st

# Below this width Streamlit's sidebar covers the page. A wide window sends nothing, so its first page runs once.
_WATCH = """
const narrow = matchMedia("(max-width: 767.98px)");
export default ({ data, setStateValue }) => {
  const report = () => narrow.matches !== data && setStateValue("narrow", narrow.matches);
  report();
  narrow.addEventListener("change", report);
  return () => narrow.removeEventListener("change", report);
};
"""
_KEY = "width"

_mount = st.components.v2.component("headlight_width", js=_WATCH)


def is_narrow() -> bool:
    """Return True if the sidebar covers the page in the reader's window; False until the window has told it."""
    return bool(st.session_state.get(_KEY, {}).get("narrow", False))


def watch() -> None:
    """Run the script again when the window gets narrow or wide."""
    _mount(key=_KEY, data=is_narrow(), height=1, on_narrow_change=lambda: None)
