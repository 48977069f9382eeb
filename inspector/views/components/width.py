"""The reader's window, of which Streamlit tells no page how wide it is, nor that it turned dark. Nothing is drawn.

Until the window has told it, a browser that calls itself a phone's is taken to be narrow and any other to be wide, so
that the first page is drawn once in either. Streamlit itself follows the system's light and dark, and charts that the
server coloured follow with the run that this component asks for.
"""

from __future__ import annotations

import streamlit as st

from inspector.views.components import files

# A window that was guessed right sends nothing. `data` is what the server takes to be true.
_WATCH = """
// Below the first width Streamlit's sidebar covers the page; below the second, three columns are too many.
const [covered, stacked] = [767.98, 1099.98].map((width) => matchMedia(`(max-width: ${width}px)`));
const dark = matchMedia("(prefers-color-scheme: dark)");
const DRAWN = 500; // milliseconds after which Streamlit has its own new colours, which it tells the server with a run
const mount = ({ data, setStateValue }) => {
  const report = () => {
    const window = { covered: covered.matches, stacked: stacked.matches };
    if (JSON.stringify(window) !== JSON.stringify(data)) setStateValue("window", window);
  };
  const turned = () => setTimeout(() => setStateValue("dark", dark.matches), DRAWN);
  report();
  for (const query of [covered, stacked]) query.addEventListener("change", report);
  dark.addEventListener("change", turned);
  return () => {
    for (const query of [covered, stacked]) query.removeEventListener("change", report);
    dark.removeEventListener("change", turned);
  };
};
"""
_KEY = "width"
_GUESS = "width.guess"  # in the session, for headers are read anew at each question
_PHONE = "Mobi"  # in the User-Agent of every phone's browser; a client hint with the width comes with no websocket

_mount = files.declared("width", _WATCH)


def is_narrow() -> bool:
    """Return True if the sidebar covers the page in the reader's window; a guess until the window has told it."""
    return _told("covered")


def is_stacked() -> bool:
    """Return True if the window is too narrow for three columns beside the sidebar; a guess until it has told it."""
    return _told("stacked")


def watch() -> None:
    """Run the script again when the window gets narrow or wide, light or dark."""
    data = {"covered": is_narrow(), "stacked": is_stacked()}
    _mount(key=_KEY, data=data, height=1, on_window_change=lambda: None, on_dark_change=lambda: None)


def _told(name: str) -> bool:
    match st.session_state.get(_KEY, {}).get("window"):
        case {**window}:
            return bool(window.get(name))
    if _GUESS not in st.session_state:
        st.session_state[_GUESS] = _PHONE in st.context.headers.get("User-Agent", "")
    guess: bool = st.session_state[_GUESS]
    return guess
