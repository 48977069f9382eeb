"""Long work on a text shows how far it is, and can be stopped.

Streamlit ends a run at its next call here when the reader presses Stop or changes something: the work ends with it, in
this very thread, and nothing of it is kept. After Stop the same text is not begun again until the reader asks for it.
A click in a fragment ends no run, so what takes long is done outside of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

PATIENCE = 1.0  # seconds without a bar: a short text is there by then
DRAWN_EVERY = 0.1  # seconds between two looks at what the reader pressed


class Bar:
    """How far the work is; drawing it is also where Streamlit ends the run when the reader presses Stop."""

    def __init__(self, place: DeltaGenerator, what: str) -> None:
        self.place, self.what, self.due = place, what, monotonic() + PATIENCE
        self.element: DeltaGenerator | None = None

    def __call__(self, done: float, layers: int) -> None:
        """Called with the layers that are done, a part of one included, and how many there will be."""
        if monotonic() < self.due:
            return
        line = f"{self.what}: layer {min(int(done) + 1, layers)} of {layers}"
        share = min(done / max(layers, 1), 1.0)
        if self.element is None:
            with self.place.container():
                self.element = st.progress(share, line)
                st.button("Stop", icon=":material/stop:", on_click=stop, key=f"stop {self.what}")
        else:
            self.element.progress(share, line)
        self.due = monotonic() + DRAWN_EVERY


@contextmanager
def bar(what: str) -> Iterator[Bar]:
    """A place for a bar that comes where the work in the block takes longer than a moment, and goes when it is done."""
    place = st.empty()
    try:
        yield Bar(place, what)
    except Exception:  # the end of a run is none: it draws nothing more
        place.empty()
        raise
    place.empty()


def _asked() -> tuple[object, ...]:
    """What the sidebar asks for."""
    state = st.session_state
    return tuple(str(state.get(name)) for name in ("model", "text", "pair", "target", "file"))


def stop() -> None:
    """The reader pressed Stop."""
    st.session_state["stopped"] = _asked()


def go_on() -> None:
    """The reader asked for the text again."""
    st.session_state.pop("stopped", None)


def hold() -> None:
    """Where the reader stopped the work on this text the page says so, offers to go on, and stops."""
    if st.session_state.get("stopped") != _asked():
        go_on()
        return
    with st.container(border=True):
        st.badge("Stopped", icon=":material/stop_circle:", color="gray")
        st.text("Your text is kept, and what was finished of it. Inspect goes on from there.")
        st.button("Inspect", type="primary", on_click=go_on, key="go on")
    st.stop()
