"""Practice: thirteen tasks, each with a file to begin with, hints one after the other, and a case to check by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from inspector.practice import texts
from inspector.practice.index import BY_NUMBER, TASKS
from inspector.practice.judging import in_float64, shown
from inspector.practice.record.task import Task
from inspector.questions.record.both import Language
from inspector.text import plain
from inspector.views.shell import downloads, languages, link
from inspector.wording import LANGUAGE, in_language
from inspector.wording.reader import pages as page_words
from inspector.wording.reader import practice_verdict as verdict_words

FILE = "mine.py"


def choose(number: int, words: ModuleType, language: Language) -> None:
    """Draw the choice of a task, by levels."""
    key = f"practice task {number} {language}"
    names = {
        task.number: f"{words.LEVELS[task.level]} · {task.number} · {task.title.of(language)}"
        for level in words.LEVELS
        for task in TASKS
        if task.level == level
    }
    st.selectbox(
        page_words.TITLES["practice"],
        list(names),
        list(names).index(number),
        format_func=names.__getitem__,
        key=key,
        on_change=lambda: link.assign("task", st.session_state[key]),
        label_visibility="collapsed",
        width=420,
    )


def show(task: Task, words: ModuleType, language: Language) -> None:
    """Draw a task: what to write on one side, a case to check by hand on the other."""
    st.header(plain(words.heading(task.number, task.title.of(language))), anchor=False)
    st.markdown(plain(task.asked.of(language)))
    writing, checking = st.columns(2, gap="medium")
    with writing:
        _to_write(task, words, language)
        _hints(task, words, language)
        _solution(task, words)
        _mistakes(task, words)
    with checking:
        _by_hand(task, words)


def _to_write(task: Task, words: ModuleType, language: Language) -> None:
    """Draw the file to begin with, and the command that runs it."""
    st.subheader(words.TO_WRITE, anchor=False)
    st.code(texts.stub(task), language=None, wrap_lines=True)
    downloads.button(FILE, lambda: texts.stub(task).encode(), words.DOWNLOAD_HINT, label=words.DOWNLOAD)
    st.markdown(words.HELD_BY)
    spoken = "" if language == LANGUAGE else f" --language {language}"
    st.code(f"python -m inspector.practice {task.number} {FILE}{spoken}", language=None, wrap_lines=True)
    st.caption(words.ABOUT)


def _hints(task: Task, words: ModuleType, language: Language) -> None:
    """Draw the hints that the reader asked for, and the button for the next one."""
    seen: dict[int, int] = st.session_state.setdefault("practice.hints", {})
    count = seen.get(task.number, 0)
    for kind, hint in zip(words.HINT_KINDS[:count], task.hints, strict=False):
        st.markdown(words.hint(kind, plain(hint.of(language))))
    if count == len(task.hints):
        st.caption(words.ALL_HINTS)
        return

    def go_on() -> None:
        seen[task.number] = count + 1

    st.button(words.next_hint(count + 1), icon=":material/lightbulb:", key=f"hint {task.number}", on_click=go_on)


def _solution(task: Task, words: ModuleType) -> None:
    """Draw the solution behind a press."""
    if _pressed("solution", task, show=words.SOLUTION, hide=words.HIDE, icon=":material/key:"):
        st.code(texts.solution(task), language=None, wrap_lines=True)


def _mistakes(task: Task, words: ModuleType) -> None:
    """Draw the names of the mistakes behind a press."""
    show = words.mistakes(len(task.mistakes))
    if _pressed("mistakes", task, show=show, hide=words.HIDE_MISTAKES, icon=":material/rule:"):
        st.markdown("\n".join(f"- {plain(verdict_words.mistake(one.said))}" for one in task.mistakes))


def _pressed(what: str, task: Task, *, show: str, hide: str, icon: str) -> bool:
    """Draw the button that opens a part of a task and closes it; return True where it is open."""
    opened: set[int] = st.session_state.setdefault(f"practice.{what}", set())
    is_open = task.number in opened

    def turn() -> None:
        opened.symmetric_difference_update({task.number})

    label = hide if is_open else show
    st.button(label, icon=icon, type="tertiary", key=f"{what} {task.number}", on_click=turn)
    return is_open


def _by_hand(task: Task, words: ModuleType) -> None:
    """Draw the first made case: what is given, and what is due."""
    case = task.made()[0]
    result = task.compute(*in_float64(case.arguments))
    results = result if isinstance(result, tuple) else (result,)
    st.subheader(words.BY_HAND, anchor=False)
    st.markdown(f"**{words.GIVEN}**")
    for name, value in zip(task.parameters, case.arguments, strict=True):
        _value(name, value, words)
    st.markdown(f"**{words.DUE}**")
    for name, value in zip(task.result, results, strict=True):
        _value(name, value, words)
    st.caption(words.NUMBERS)


def _value(name: str, value: Any, words: ModuleType) -> None:
    """Draw an argument or a result: a number in a line, an array as tables."""
    if isinstance(value, Mapping):
        rows = [(shown(word), times) for word, times in value.items()]
        st.markdown(f"`{name}`")
        st.table(pd.DataFrame(rows, columns=[words.WORD, words.COUNT]).set_index(words.WORD))
        return
    if not isinstance(value, np.ndarray):
        st.markdown(f"`{name} = {shown(value)}`")
        return
    with st.container(horizontal=True, gap="medium"):
        for place, matrix in _matrices(value):
            with st.container(width="content", gap="xsmall"):
                st.markdown(f"`{words.part(name, place)}`")
                frame = pd.DataFrame([[_cell(cell) for cell in row] for row in matrix])
                frame.columns = frame.columns.map(str)
                st.table(frame, width="content")


def _matrices(array: Any) -> Iterator[tuple[str, Any]]:
    """Cut an array into matrices, each with its place."""
    if array.ndim <= 2:
        yield "", np.atleast_2d(array)
        return
    for at, part in enumerate(array):
        for place, matrix in _matrices(part):
            yield f"[{at}]{place}", matrix


def _cell(value: Any) -> str:
    """Return a number of a table with four decimals at most."""
    return f"{float(value):.4f}".rstrip("0").rstrip(".") if np.isfinite(value) else str(value)


link.parameters("task")
asked = link.number("task", default=1, first=1, last=len(TASKS))
task = BY_NUMBER[asked or 1]
language = languages.chosen()
words = in_language(language, "practice")
link.publish()
choose(task.number, words, language)
show(task, words, language)
