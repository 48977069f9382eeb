"""The visitors' two queues: for long work, which goes on slice by slice, and for loading a model, which takes seconds.

Loading never waits behind long work, and what takes a moment waits for nobody. The queues know when nobody else
computes: then the memory that a large work has freed goes back to the system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event
from time import thread_time
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from inspector.views.server import process_settings
from inspector.views.server.shared import Shared
from inspector.views.server.turns import Place, Turns
from inspector.wording.reader import queue as sentences
from models import settings

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

LARGE = 0.5  # seconds of a core: work that took more has freed memory worth giving back
_freed = Event()

Words = Callable[[int, tuple[str, ...], float | None], str]
"""The sentence for who waits, from the place, the works that go first, and the seconds until the turn, if known."""


@Shared
def turns() -> Turns:
    """Give the queue of long work that all visitors stand in; HEADLIGHT_TURNS says how many work at once."""
    return Turns(settings.number("TURNS"))


@Shared
def loads() -> Turns:
    """Give the queue of those who load a model or change its switches: one at a time, as memory is made free for it."""
    return Turns(1)


@contextmanager
def turn(what: str, *, words: Words | None = None, say: Callable[[str], object] | None = None) -> Iterator[None]:
    """Run the block of long work when it is this visitor's turn, and say the place in the queue meanwhile.

    what: what is done in the block, the beginning of a sentence, and what others read who wait for it. words: the whole
    sentence in place of the usual one. say: draws the sentence, "" once the wait is over; in a box of its own where
    None. Saying the place is also where Streamlit ends the run when the visitor presses Stop, changes something or
    leaves: the place is free at once. Between its pieces the block calls `give_way`, as every progress bar does. Work
    that no visitor asked for, in a thread of the server's, takes no turn.
    """
    with _taken(turns(), what, words or partial(sentences.waits, what), say):
        began = thread_time()
        try:
            yield
        finally:
            if thread_time() - began > LARGE:
                release_later()


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Run the block, which loads a model, when it is this visitor's turn among those who load; see `turn`."""
    with _taken(loads(), what, partial(sentences.waits, what), None):
        yield


def give_way(share: float) -> None:
    """Let other visitors' long work go first where this visitor's had a slice; share: of the work that is done."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        turns().give_way(context.session_id, share=share)
        _release(context.session_id)


@contextmanager
def click() -> Iterator[None]:
    """Let other visitors' long work pause while the block draws a page and takes no turn."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        yield
        return
    with turns().click(context.session_id):
        yield
    _release(context.session_id)


def release_later() -> None:
    """Give freed memory back to the system at the next moment in which one visitor at most computes."""
    _freed.set()


def _release(visitor: str) -> None:
    if _freed.is_set() and turns().alone(visitor):
        _freed.clear()
        process_settings.release_memory()


@contextmanager
def _taken(line: Turns, what: str, words: Words, say: Callable[[str], object] | None) -> Iterator[None]:
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        yield
        return
    box: DeltaGenerator | None = None

    def tell(place: Place | None) -> None:
        nonlocal box
        sentence = "" if place is None else words(place.number, place.before, place.seconds)
        if say is not None:
            say(sentence)
        else:
            box = box or st.empty()
            box.info(sentence, icon=":material/hourglass_top:") if sentence else box.empty()

    with line.taken(context.session_id, work=what, tell=tell):
        yield
