"""A reader's guesses that the browser keeps: what it told, what is due today, and the ways to export and forget.

guesses.hear()                       # at the page's top: what the browser told since the run before
guesses.mark(16, right=True, guess="true")
guesses.keep()                       # at its end: tells the browser what to keep
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import ModuleType

import streamlit as st

from inspector.questions import kept, repetition
from inspector.questions.index import BY_NUMBER, MERGED
from inspector.questions.record.both import LANGUAGES, Language
from inspector.questions.repetition import Guess, Kept
from inspector.views.components import keeping
from inspector.views.components.upload import upload
from inspector.views.shell import downloads, link, question_reader
from inspector.wording import in_language

WORDS: dict[Language, ModuleType] = {language: in_language(language, "questions.kept") for language in LANGUAGES}
FILE = "headlight-guesses.json"


@dataclass
class _Keeping:
    """The session's knowledge of the browser's storage.

    waiting: marks from before the browser told its day. written: what the browser is told to keep, None where it leads.
    """

    told: keeping.Told | None = None
    guesses: dict[int, Kept] = field(default_factory=dict)
    waiting: list[tuple[int, bool, Guess]] = field(default_factory=list)
    written: str | None = None
    unreadable: kept.Why | None = None
    left_out: int = 0


def of_visit() -> dict[int, str]:
    """Return the reader's guesses of this visit, by the number of the question."""
    return question_reader.guesses()


def known() -> Mapping[int, Kept]:
    """Return what is kept, by the number of the question."""
    return _now().guesses


def hear() -> None:
    """Take what the browser told since the run before; what it keeps leads, and marks of before join it."""
    now, told = _now(), keeping.told()
    if told is None or told == now.told:
        return
    there = now.written if now.written is not None or now.told is None else now.told.text
    now.told = told
    if told.problem == "large":
        now.unreadable = "large"
    elif not told.problem and told.text != there:
        _read(now, told)
    waiting, now.waiting = now.waiting, []
    for number, right, guess in waiting:
        mark(number, right=right, guess=guess)


def mark(number: int, *, right: bool, guess: Guess) -> None:
    """Keep a guess, whether it was right, and its day; it waits where the browser has not told its day yet."""
    now = _now()
    if now.told is None:
        now.waiting.append((number, right, guess))
        return
    before = now.guesses.get(number)
    now.guesses[number] = repetition.marked(before, right=right, guess=guess, today=now.told.day)
    _changed(now)


def keep() -> None:
    """Tell the browser what to keep; called in every run, at the page's end."""
    keeping.watch(_now().written)


def due() -> list[int]:
    """Return the numbers of the questions that are due today, the longest overdue first."""
    now = _now()
    return [] if now.told is None else repetition.due(now.guesses, now.told.day)


def comes_back(number: int, language: Language) -> str:
    """Say when a question comes back, "" where nothing is kept of it."""
    found = _now().guesses.get(number)
    return "" if found is None else WORDS[language].back(found.due.isoformat())


def show(language: Language, *, always: bool) -> None:
    """Draw the way to the next question that is due, and what is kept. always: also where nothing is."""
    words, now = WORDS[language], _now()
    numbers = due()
    if numbers:
        st.button(
            words.due(len(numbers)),
            icon=":material/event_repeat:",
            type="tertiary",
            key="due",
            on_click=_ask_again,
            args=(numbers[0],),
        )
    if always or now.guesses or _problem(words):
        panel = st.popover(words.KEPT, icon=":material/inventory_2:", key="kept", on_change="rerun")
        if panel.open:
            with panel:
                _panel(now, words)


def show_problem(language: Language) -> None:
    """Say what went wrong with the browser's storage, where something did."""
    if said := _problem(WORDS[language]):
        st.caption(said)


def _ask_again(number: int) -> None:
    of_visit().pop(number, None)
    link.assign("q", number)


def _panel(now: _Keeping, words: ModuleType) -> None:
    """Draw what is kept, and Export, Import and Forget."""
    said = words.count(len(now.guesses))
    if now.told is not None and (coming := repetition.next_due(now.guesses, now.told.day)) is not None:
        said += f" {words.next_due(coming[0].isoformat(), coming[1])}"
    st.text(said)
    st.caption(words.ABOUT)
    for problem in filter(None, (_problem(words), st.session_state.get("kept.said", ""))):
        st.text(problem)
    with st.container(horizontal=True, gap="small"):
        if now.guesses:
            text = kept.written(now.guesses)
            downloads.button(FILE, text.encode, words.EXPORT_HINT, label=words.EXPORT)
        if now.guesses or now.unreadable is not None:
            st.button(words.FORGET, icon=":material/delete:", key="forget", on_click=_forget)
        upload(
            words.IMPORT,
            accept=".json",
            most=kept.MOST_BYTES,
            key="import",
            on_text=lambda text: _import(text, words),
        )


def _problem(words: ModuleType) -> str:
    now = _now()
    if now.unreadable is not None:
        return f"{words.UNREADABLE[now.unreadable]} {words.NOT_WRITTEN}"
    if now.told is not None and now.told.problem == "blocked":
        return str(words.BLOCKED)
    if now.told is not None and now.told.problem == "full":
        return str(words.FULL)
    return str(words.left_out(now.left_out)) if now.left_out else ""


def _forget() -> None:
    """Forget every guess, in the browser and in this visit."""
    now = _now()
    now.guesses, now.waiting, now.unreadable, now.left_out, now.written = {}, [], None, 0, ""
    of_visit().clear()
    st.session_state.pop("questions.right", None)
    st.session_state.pop("kept.said", None)


def _import(text: str | None, words: ModuleType) -> None:
    """Join the guesses of a file with those that are kept, or say why the file is none."""
    now = _now()
    try:
        if text is None:
            raise kept.UnreadableError("large")
        found = kept.read(text, known=BY_NUMBER, today=_day(now), of_merged=MERGED)
    except kept.UnreadableError as error:
        st.session_state["kept.said"] = words.REFUSED[error.why]
        return
    now.guesses = repetition.merged(now.guesses, found.guesses)
    st.session_state["kept.said"] = words.taken(len(found.guesses), found.left_out)
    _changed(now)


def _read(now: _Keeping, told: keeping.Told) -> None:
    """Take the browser's text in the place of what the session knew."""
    now.unreadable, now.left_out, now.written = None, 0, None
    try:
        found = kept.read(told.text, known=BY_NUMBER, today=told.day, of_merged=MERGED)
    except kept.UnreadableError as error:
        now.unreadable = error.why
        return
    now.guesses, now.left_out = found.guesses, found.left_out


def _changed(now: _Keeping) -> None:
    if now.unreadable is None:  # what could not be read stays until the reader forgets it
        now.written = kept.written(now.guesses)


def _day(now: _Keeping) -> date:
    return date.today() if now.told is None else now.told.day


def _now() -> _Keeping:
    """Return what this session knows."""
    state: _Keeping = st.session_state.setdefault("questions.keeping", _Keeping())
    return state
