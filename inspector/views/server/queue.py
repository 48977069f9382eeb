"""The visitors' queue for what keeps a core busy: training in the Lab, writing in Generate, loading a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from inspector.views.server import process_settings
from inspector.views.server.turns import Turns

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


@st.cache_resource(show_spinner=False)
def turns() -> Turns:
    """Give the queue that all visitors stand in; HEADLIGHT_TURNS says how many work at once."""
    return Turns(places(os.environ.get("HEADLIGHT_TURNS", ""), cores=os.cpu_count() or 1))


def places(text: str, *, cores: int) -> int:
    """Read how many work at once: half of what the cores can run, so that pages are drawn meanwhile, and at least one.

    Raises ValueError where the text is no number from 1 to 999.
    """
    if not text.strip():
        return max(1, cores // 2 // process_settings.THREADS)
    if not text.strip().isascii() or not text.strip().isdigit() or not 1 <= int(text) <= 999:
        raise ValueError(f"HEADLIGHT_TURNS is {text[:100]!a}; write a whole number from 1 to 999")
    return int(text)


@contextmanager
def turn(what: str, *, words: Callable[[int], str] | None = None) -> Iterator[None]:
    """Run the block when it is this visitor's turn, and say the place in the queue meanwhile.

    what: what is done in the block, the beginning of a sentence; words: the whole sentence in place of that, for a page
    in another language, given the place. Saying the place is also where Streamlit ends the run
    when the visitor presses Stop, changes something or leaves: the place is free at once. Work that no visitor asked
    for, in a thread of the server's, takes no turn.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        yield
        return
    element: DeltaGenerator | None = None

    def tell(place: int) -> None:
        nonlocal element
        element = element or st.empty()
        sentence = (
            f"{what} waits for other visitors: you are number {place} in the queue. Stop, a change or another page "
            "gives up your place."
        )
        element.info(sentence if words is None else words(place), icon=":material/hourglass_top:")

    with turns().taken(context.session_id, tell=tell):
        if element is not None:
            element.empty()
        yield
