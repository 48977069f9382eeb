"""The lesson that a reader is in, and the way back to it, over every page that a step leads to.

open_lesson.keep("An evening", lesson="evening", step=3, of=9)     # by the page Lessons
open_lesson.draw("scores")                                         # by the frame
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from inspector.text import plain
from inspector.views.shell import pages
from inspector.wording.reader import shell as words

PAGE = "lessons"
_OPEN = "lessons.open"  # in the session


@dataclass(frozen=True)
class _Open:
    """An open lesson. lesson: as the link names it; step: from 1."""

    title: str
    lesson: str
    step: int
    of: int


def keep(title: str, *, lesson: str, step: int, of: int) -> None:
    """Note which step of which lesson is open."""
    st.session_state[_OPEN] = _Open(title, lesson, step, of)


def close() -> None:
    """Forget the open lesson."""
    st.session_state.pop(_OPEN, None)


def draw(page: str) -> None:
    """Draw the way back to the open lesson; nothing on its own page, and where none is open."""
    found: _Open | None = st.session_state.get(_OPEN)
    if found is None or page == PAGE:
        return
    st.page_link(
        pages.FILES[PAGE],
        label=plain(words.back_to_lesson(found.title, found.step, found.of)),
        icon=":material/arrow_back:",
        query_params={"lesson": found.lesson, "step": str(found.step)},
    )
