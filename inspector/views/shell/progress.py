"""Long work on a text shows how far it is, can be stopped, and goes on in turn with that of other visitors.

Streamlit ends a run at its next call here when the reader presses Stop or changes something: the work ends with it, in
this very thread, and nothing of the work is kept. After Stop the same text is not begun again until the reader asks for
it. A click in a fragment ends no run, so what takes long is done outside of a fragment.

    with progress.layers("Reading the text") as on_progress:
        record(loaded, text, on_progress=on_progress)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic, thread_time
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from inspector.views.server import queue
from inspector.views.shell import appearance
from inspector.wording.reader import shell as wording

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

PATIENCE = 1.0  # seconds without a bar: a short text is there by then
DRAWN_EVERY = 0.1  # seconds between two looks at what the reader pressed


class Bar:
    """The share of a work that is done.

    Drawing the bar is also where Streamlit ends the run at the reader's Stop, and where others have their turn.
    """

    def __init__(
        self,
        place: DeltaGenerator | None = None,
        *,
        at_once: bool = True,
        stop: str = "",
        holds: bool = True,
        label: str = "",
    ) -> None:
        """Take a place for the bar, which comes at once, or when the work takes longer than PATIENCE.

        place: where None a place is made when the bar comes, so that a short work moves nothing on the page.
        stop: the key of a Stop button under the bar, which ends the work on this text; "" for none. holds: after Stop
        the page waits for Inspect (see `hold`); False for a work beside the text, which a button begins anew. label:
        the Stop button's, where it is not "Stop".
        """
        self.place, self.stop, self.holds = place, stop, holds
        self.label = label or wording.STOP
        self.element: DeltaGenerator | None = None
        self.share = 0.0
        self.due = 0.0 if at_once else monotonic() + PATIENCE

    def draw(self, done: float, total: float, words: str, *, now: bool = False) -> None:
        """Show the share and the words, every DRAWN_EVERY seconds at most; now: whatever the clock says."""
        self.share = min(done / max(total, 1), 1.0)
        if now or monotonic() >= self.due:
            self._show(words)
        queue.give_way(self.share)

    @contextmanager
    def turn(self, what: str, *, words: queue.Words | None = None) -> Iterator[None]:
        """Run the block when it is this visitor's turn, and show the place in the queue meanwhile; see `queue.turn`."""
        with queue.turn(what, words=words, say=self._show):
            yield

    def _show(self, words: str) -> None:
        if self.element is None:
            self.place = st.empty() if self.place is None else self.place
            with self.place.container():
                self.element = st.progress(self.share, words)
                if self.stop:
                    st.button(self.label, icon=":material/stop:", on_click=stop if self.holds else None, key=self.stop)
        else:
            self.element.progress(self.share, words)
        self.due = monotonic() + DRAWN_EVERY

    def clear(self) -> None:
        """Take the bar off the page."""
        if self.place is not None:
            self.place.empty()


@contextmanager
def layers(what: str, *, unit: str = "layer") -> Iterator[Callable[[float, int], None]]:
    """Show the layers that are done, a part of a layer included, where the block takes longer than a moment.

    what: in English, for other visitors who wait may read it. unit: what is counted, where it is no layer. The block
    calls what it is given with the layers done and how many there will be. What takes a core longer than a moment goes
    on in turn with other visitors' work. Work that no visitor waits for, in a thread of the server's, shows nothing.
    """
    if get_script_run_ctx(suppress_warning=True) is None:
        yield lambda done, total: None
        return
    bar, began, taken = Bar(at_once=False, stop=f"stop {what}"), thread_time(), False
    with ExitStack() as turn:

        def draw(done: float, total: int) -> None:
            nonlocal taken
            if not taken and thread_time() - began >= PATIENCE:  # a short text on a busy machine waits for nobody
                taken = True
                turn.enter_context(bar.turn(what))
            bar.draw(done, total, wording.step(what, unit=unit, number=min(int(done) + 1, total), of=total))

        try:
            yield draw
        except Exception:  # the end of a run is no Exception: it draws nothing more
            bar.clear()
            raise
    bar.clear()


def _asked() -> tuple[object, ...]:
    """Return what the sidebar asks for."""
    state = st.session_state
    return tuple(str(state.get(name)) for name in ("model", "text", "pair", "target", "file"))


def stop() -> None:
    """Keep in mind that the reader pressed Stop."""
    st.session_state["progress.stopped"] = _asked()


def go_on() -> None:
    """Forget the reader's Stop: the text was asked for again."""
    st.session_state.pop("progress.stopped", None)


def hold() -> None:
    """Say that the reader stopped the work on this text, offer to go on, and stop the page."""
    if st.session_state.get("progress.stopped") != _asked():
        go_on()
        return
    with st.container(border=True):
        st.badge(wording.STOPPED, icon=":material/stop_circle:", color="gray")
        st.text(wording.KEPT)
        st.button(appearance.on_accent(wording.INSPECT)[0], type="primary", on_click=go_on, key="go on")
    st.stop()
