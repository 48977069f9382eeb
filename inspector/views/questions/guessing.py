"""A question before its answer: a guess of the verdict or of a number, hints, and what to know first; then the mark."""

from __future__ import annotations

import math
import re
from types import ModuleType

import streamlit as st

from inspector.questions import course, number_guess
from inspector.questions.asking import Answer
from inspector.questions.filled import lines_of, shown
from inspector.questions.index import BY_NUMBER, FIRST
from inspector.questions.record.both import LANGUAGES, Language
from inspector.questions.record.question import Question
from inspector.text import plain
from inspector.views.components import width
from inspector.views.questions import guesses
from inspector.views.shell import link
from inspector.wording import in_language

GUESSES = ("true", "false", "between")
BETWEEN = ("partly", "conditions")
"""Verdicts that the last guess means."""
WORDS: dict[Language, ModuleType] = {language: in_language(language, "questions.course") for language in LANGUAGES}
_SHOWN = "shown"  # in place of a guess
_NUMBER = "number"
_FRESH = "questions.fresh"  # in the session: the number of the question whose guess is not marked yet
_HINTS, _ON_SLIDER, _NUMBERS = "questions.hints", "questions.on slider", "questions.numbers"
_MOVED = "questions.moved"  # in the session: the numbers of the questions whose slider was moved


def another(than: int | None = None) -> Question:
    """Return the question that comes next: those for beginners, then all by number, what was guessed left out.

    than: the number of the question that is open.
    """
    order = list(dict.fromkeys((*FIRST, *BY_NUMBER)))
    at = 0 if than is None else order.index(than) + 1
    order = order[at:] + order[:at]
    guessed = guesses.of_visit().keys() | guesses.known().keys()
    return BY_NUMBER[next((number for number in order if number not in guessed), order[0])]


def lead_on(question: Question, words: ModuleType) -> None:
    """Draw the button that leads to another question."""
    st.button(
        words.ANOTHER,
        icon=":material/arrow_forward:",
        type="tertiary",
        key="another",
        on_click=link.assign,
        args=("q", another(question.number).number),
    )


def ask(question: Question, words: ModuleType, language: Language, *, alone: bool) -> None:
    """Draw the question, what people say in large type, and the guesses.

    alone: no path leads on from the question, so a button does.
    """
    own, step = WORDS[language], course.of(question.number)
    on_slider = bool(step.number) and question.number in _set(_ON_SLIDER)
    st.header(plain(words.heading(question.number, question.asked.of(language))), anchor=False)
    st.title(plain(question.claim.of(language)), anchor=False)
    if on_slider:
        _slider(question, step, own, language)
    else:
        st.markdown(words.GUESS)
        for column, guess in zip(st.columns(len(GUESSES), gap="small"), GUESSES, strict=True):
            key = f"guess {guess} {question.number}"
            column.button(words.GUESSES[guess], key=key, width="stretch", on_click=_take, args=(question, guess))
    hints = _hints(question)
    seen = min(_seen().get(question.number, 0), len(hints))
    with st.container(horizontal=True, gap="small"):
        if seen < len(hints):
            st.button(own.HINT, key=f"hint {question.number}", type="tertiary", on_click=_hint, args=(question,))
        if step.number:
            st.button(
                own.GUESS_VERDICT if on_slider else own.GUESS_NUMBER,
                key=f"slider {question.number}",
                type="tertiary",
                on_click=_turn,
                args=(question,),
            )
        st.button(
            words.JUST_SHOW,
            key=f"show {question.number}",
            type="tertiary",
            on_click=_take,
            args=(question, _SHOWN),
        )
        if alone:
            lead_on(question, words)
    for name in hints[:seen]:
        _show_hint(question, name, own, language)
    place(question, language)


def place(question: Question, language: Language) -> None:
    """Draw a question's level, and the way to what is to be known first."""
    words, step = WORDS[language], course.of(question.number)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            " · ".join(filter(None, (words.level(step.level), words.KNOW_FIRST if step.first else ""))), width="content"
        )
        for number in step.first:
            st.button(
                f"{number}",
                key=f"first {question.number} {number}",
                type="tertiary",
                help=plain(BY_NUMBER[number].asked.of(language)),
                on_click=link.assign,
                args=("q", number),
            )


def judge(answer: Answer, words: ModuleType, language: Language) -> None:
    """Say whether the guess was right, how many were, and when the question comes back; a fresh guess is kept."""
    question, own = answer.question, WORDS[language]
    guess = guesses.of_visit()[question.number]
    right: dict[int, bool] = st.session_state.setdefault("questions.right", {})
    if guess == _SHOWN or answer.verdict is None:
        return
    if guess == _NUMBER:
        step, guessed = course.of(question.number), _numbers()[question.number]
        measured, label = answer.numbers.get(step.number, math.nan), question.numbers[step.number]
        points = number_guess.points(guessed, measured=measured, step=step)
        hit = points >= number_guess.KNOWN
        st.text(own.points(shown(guessed, label, language), shown(measured, label, language), points))
    else:
        hit = right[question.number] = guess == ("between" if answer.verdict in BETWEEN else answer.verdict)
        st.text(words.guessed(words.GUESSES[guess], right=hit, rights=sum(right.values()), of=len(right)))
    if st.session_state.get(_FRESH) == question.number:
        del st.session_state[_FRESH]
        guesses.mark(question.number, right=hit, guess=guess)  # type: ignore[arg-type]
    if back := guesses.comes_back(question.number, language):
        st.caption(back)


def _take(question: Question, guess: str) -> None:
    guesses.of_visit()[question.number] = guess
    if guess != _SHOWN:
        st.session_state[_FRESH] = question.number
    link.assign("q", question.number)


# --- a number ---------------------------------------------------------------------------------------------------------


def _slider(question: Question, step: course.Step, words: ModuleType, language: Language) -> None:
    """Draw the slider on which the number is guessed; it opens in the middle, which is no guess until it was moved."""
    label, stops = question.numbers[step.number], number_guess.stops(step)
    guessed = st.select_slider(
        plain(words.question(label.name.of(language))),
        stops,
        stops[len(stops) // 2],
        format_func=lambda value: shown(value, label, language),
        key=f"number {question.number} {language}",
        on_change=_set(_MOVED).add,
        args=(question.number,),
    )

    def take() -> None:
        _numbers()[question.number] = guessed
        _take(question, _NUMBER)

    moved = question.number in _set(_MOVED)
    st.button(words.TAKE, key=f"take {question.number}", on_click=take, disabled=not moved)


def _turn(question: Question) -> None:
    """Go from the verdict to the number, or back."""
    _set(_ON_SLIDER).symmetric_difference_update({question.number})
    link.assign("q", question.number)


def _numbers() -> dict[int, float]:
    numbers: dict[int, float] = st.session_state.setdefault(_NUMBERS, {})
    return numbers


def _set(name: str) -> set[int]:
    numbers: set[int] = st.session_state.setdefault(name, set())
    return numbers


# --- hints ------------------------------------------------------------------------------------------------------------


def _hints(question: Question) -> list[str]:
    """List the names of a question's hints, in steps towards the answer."""
    said = {
        "formula": question.formula,
        "setting": question.setting.en,
        "because": question.because.en,
    }
    return [name for name, text in said.items() if text]


def _seen() -> dict[int, int]:
    seen: dict[int, int] = st.session_state.setdefault(_HINTS, {})
    return seen


def _hint(question: Question) -> None:
    _seen()[question.number] = _seen().get(question.number, 0) + 1
    link.assign("q", question.number)


def _show_hint(question: Question, name: str, words: ModuleType, language: Language) -> None:
    st.markdown(f"**{words.HINTS[name]}**")
    if name == "formula":
        open_formula = re.sub(r"<[A-Za-z]\w*>", r"\\,?\\,", question.formula)  # what is measured stays open
        for line in lines_of(open_formula) if width.is_narrow() else (open_formula,):
            st.latex(line)
    else:
        st.markdown(plain((question.setting if name == "setting" else question.because).of(language)))
