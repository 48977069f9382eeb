"""The open lesson: one that comes along, one that stands in the link, or one from a file; and the ways to open one."""

from __future__ import annotations

from types import ModuleType

import streamlit as st

from inspector.lessons import links
from inspector.lessons.lesson import Lesson
from inspector.lessons.reading import MOST_BYTES, read
from inspector.lessons.shipped import SHIPPED, shipped
from inspector.questions.record.both import Language
from inspector.text import plain
from inspector.views.components.upload import upload
from inspector.views.shell import downloads, link, open_lesson, problems

FILE = "file"
"""The parameter of a lesson that is too long for a link: its file has to be opened again."""
_FILE, _READ, _PROBLEM = "lessons.file", "lessons.read", "lessons.problem"  # in the session


def now(words: ModuleType) -> Lesson | None:
    """Return the lesson that the link names; None without one, and where there is none, which is said."""
    given = link.text("lesson", pattern=links.PATTERN)
    if not given:
        return None
    if given in SHIPPED:
        return shipped(given)
    if given == FILE and _FILE in st.session_state:
        lesson: Lesson = st.session_state[_FILE]
        return lesson
    if not given.startswith(links.BEFORE):
        link.complain(words.OPEN_AGAIN if given == FILE else words.no_lesson(SHIPPED))
        leave()
        return None
    known: tuple[str, Lesson] | None = st.session_state.get(_READ)
    if known is not None and known[0] == given:
        return known[1]
    try:
        lesson = read(links.decode(given))
    except ValueError as error:
        st.session_state[_PROBLEM] = str(error)
        leave()
        return None
    st.session_state[_READ] = given, lesson
    return lesson


def leave() -> None:
    """Close the lesson; answers stay."""
    for name in ("lesson", "step"):
        link.assign(name, None)
    open_lesson.close()


def offer(words: ModuleType, language: Language) -> None:
    """Draw the lessons that come along, and the button that opens a file."""
    if problem := st.session_state.get(_PROBLEM):
        problems.show(problem, what=words.NOT_OPENED)
    st.header(words.CHOOSE, anchor=False)
    for name, column in zip(SHIPPED, st.columns(len(SHIPPED), gap="medium"), strict=True):
        lesson = shipped(name)
        with column.container(border=True, height="stretch"):
            st.subheader(plain(lesson.title.of(language)), anchor=False)
            st.text(lesson.about.of(language))
            st.caption(words.size(len(lesson.steps), len(lesson.asking)))
            st.button(words.OPEN, icon=":material/play_arrow:", key=f"open {name}", on_click=_open, args=(name,))
    st.subheader(words.OF_YOURS, anchor=False)
    with st.container(horizontal=True, gap="small"):
        upload(words.OPEN_FILE, accept=".toml", most=MOST_BYTES, key="open lesson", on_text=_take)
        example = shipped(SHIPPED[0]).source
        downloads.button("lesson.toml", example.encode, words.EXAMPLE_HELP, label=words.EXAMPLE)
    st.text(words.ABOUT)


def hand_on(lesson: Lesson, words: ModuleType, language: Language) -> None:
    """Draw the link to a lesson, where it is short enough for one, and its file."""
    panel = st.popover(words.HAND_ON, icon=":material/share:", key="hand on", on_change="rerun")
    if not panel.open:
        return
    with panel:
        given = next((name for name in SHIPPED if shipped(name) == lesson), None) or links.encode(lesson.source)
        if given is None:
            st.text(words.too_long(links.MOST_LETTERS))
        else:
            st.text(words.LINK)
            page = (st.context.url or "lessons").partition("?")[0]
            st.code(f"{page}?lesson={given}&lang={language}", language=None, wrap_lines=True, height=160)
        downloads.button("lesson.toml", lesson.source.encode, words.EXAMPLE_HELP, label=words.SAVE)


def _open(given: str) -> None:
    st.session_state.pop(_PROBLEM, None)
    link.assign("lesson", given)
    link.assign("step", None)


def _take(text: str | None) -> None:
    """Open the lesson of a file, or say why the file is none."""
    try:
        lesson = read(text if text is not None else "#" * (MOST_BYTES + 1))
    except ValueError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    given = links.encode(lesson.source)
    if given is None:
        st.session_state[_FILE] = lesson
    _open(given or FILE)
