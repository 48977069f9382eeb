"""The work that begins with the server, before a visitor comes: the first model is loaded and reads the first text.

A thread does it through the caches that the pages ask. A visitor who comes meanwhile waits for the same work, in front
of a page that already says what it is for.
"""

from __future__ import annotations

import logging
from threading import Thread

import streamlit as st

from inspector import examples
from inspector.views.server import process_settings
from inspector.views.shell import available_models, overview, session
from inspector.wording.reader import shell as words
from models.registry import default_id

PULSE = 0.1  # seconds between two looks at what the visitor pressed
NAME = "ahead"
_ASKED = "streamlit.runtime.scriptrunner_utils.script_run_context"  # says that a thread of no visitor asks

_workers: list[Thread] = []


def begin() -> None:
    """Begin the work; what fails in it is only logged, for the visitor's own try fails again and is told."""
    logging.getLogger(_ASKED).addFilter(_of_a_visitor)
    _workers.append(Thread(target=_prepare, name=NAME, daemon=True))
    _workers[-1].start()


def wait() -> None:
    """Wait for the work, if it is still under way, and say so meanwhile; a click elsewhere ends the wait."""
    if not any(worker.is_alive() for worker in _workers):
        return
    pulse = st.empty()  # where Streamlit ends a run
    with st.spinner(words.starting(available_models.title_in_frame(default_id()))):
        for worker in _workers:
            while worker.is_alive():
                worker.join(PULSE)
                pulse.empty()


def _prepare() -> None:
    try:
        with process_settings.uncollected():
            read = session.record(default_id(), examples.FIRST)
            overview.of(read.trace)
            session.exactness(read)
    except Exception:  # whatever it is: nobody sees this thread
        logging.getLogger(__name__).info("the work ahead failed", exc_info=True)


def _of_a_visitor(record: logging.LogRecord) -> bool:
    return record.threadName != NAME
