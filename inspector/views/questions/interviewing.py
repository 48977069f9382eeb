"""The mock interview on the page: a question and its clock, the reader's words beside the page's answer, the result."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType

import streamlit as st

from inspector.questions import course, interview
from inspector.questions.asking import Answer
from inspector.questions.index import BY_NUMBER
from inspector.questions.interview import Interview
from inspector.questions.path import plain as without_controls
from inspector.questions.record.both import LANGUAGES, Language
from inspector.questions.record.question import ClaimPart, Question
from inspector.text import plain
from inspector.views.components.interview import Left
from inspector.views.components.interview import question as clock
from inspector.views.questions import guesses, opened
from inspector.views.shell import appearance, link, problems
from inspector.views.shell.question_reader import Reader
from inspector.wording import in_language

PARAMETERS = ("interview", "interview_at")  # which the page declares
WORDS: dict[Language, ModuleType] = {language: in_language(language, "questions.interview") for language in LANGUAGES}


@dataclass
class _Run:
    """An interview of this visit. words: the reader's own, by question; named: how many points of how many."""

    of: Interview
    words: dict[int, str] = field(default_factory=dict)
    skipped: set[int] = field(default_factory=set)
    named: dict[int, tuple[int, int]] = field(default_factory=dict)


def now() -> tuple[Interview, int] | None:
    """Return the interview that the link asks for, and how many of its questions are behind; None without one."""
    asked = interview.decode(link.text("interview", pattern=interview.PATTERN))
    at = link.number("interview_at", default=0, last=interview.COUNT)
    return None if asked is None else (asked, at or 0)


def way(language: Language) -> None:
    """Draw the way to an interview: what it is, the level, and Start."""
    words, levels = WORDS[language], (0, *course.LEVELS)
    panel = st.popover(words.INTERVIEW, icon=":material/timer:", key="interview way", on_change="rerun")
    if not panel.open:
        return
    with panel:
        st.text(words.ABOUT)
        level = st.segmented_control(
            words.LEVEL,
            levels,
            default=1,
            format_func=lambda level: str(level or words.MIXED),
            key=f"interview level {language}",
            required=True,
        )
        label, icon = appearance.on_accent(words.START)
        st.button(label, icon=icon, type="primary", key="interview start", on_click=_begin, args=(level or 0,))


def head(asked: Interview, at: int, language: Language) -> None:
    """Draw where the reader is in the interview, and the way out."""
    words, of = WORDS[language], len(interview.drawn(asked, course.STEPS))
    st.markdown(f"**{words.step(at + 1, of) if at < of else words.INTERVIEW}**", width="content")
    st.button(words.LEAVE, key="interview leave", type="tertiary", on_click=_leave)


def show(asked: Interview, at: int, reader: Reader, page: ModuleType, language: Language) -> None:
    """Draw the interview where it is: a question, its answer, or the result. page: the words of the page."""
    words, run = WORDS[language], _run(asked)
    numbers = interview.drawn(asked, course.STEPS)
    if at >= len(numbers):
        _result(run, numbers, words, language)
        return
    question = BY_NUMBER[numbers[at]]
    if question.number in run.words:
        _answer(run, question, at, len(numbers), reader, words, page, language)
    else:
        _ask(run, question, at, words, page, language)


def _begin(level: int) -> None:
    link.assign("interview", interview.encode(Interview(level, secrets.randbelow(interview.MOST_SEED + 1))))
    for name in ("interview_at", "q"):
        link.assign(name, None)


def _leave() -> None:
    for name in PARAMETERS:
        link.assign(name, None)


def _run(asked: Interview) -> _Run:
    """Return what the session holds of the interview; of another one it holds nothing."""
    run: _Run | None = st.session_state.get("questions.interview")
    if run is None or run.of != asked:
        run = st.session_state["questions.interview"] = _Run(asked)
    return run


def _ask(run: _Run, question: Question, at: int, words: ModuleType, page: ModuleType, language: Language) -> None:
    """Draw a question with its clock and the field for the reader's words."""

    def leave(left: Left) -> None:
        if left.number != question.number:
            return
        run.words[left.number] = without_controls(left.words)
        if left.skipped:
            run.skipped.add(left.number)
            _mark(run, question.number, 0, len(question.parts) + 1)
            link.assign("interview_at", at + 1)

    asked = question.asked.of(language)
    st.header(plain(page.heading(question.number, asked)), anchor=False)
    st.markdown(f"**{page.SAID}** {plain(question.claim.of(language))}")
    clock(
        question.number,
        interview=interview.encode(run.of),
        words={
            "field": words.answer_to(asked),
            "show": words.SHOW,
            "skip": words.SKIP,
            "pause": words.PAUSE,
            "goOn": words.GO_ON,
            "left": words.TIME_LEFT,
            "paused": words.PAUSED,
            "minute": words.MINUTE_LEFT,
            "seconds": words.SECONDS_LEFT,
            "up": words.TIME_UP,
        },
        key=f"interview {language}",
        on_left=leave,
    )


def _answer(
    run: _Run,
    question: Question,
    at: int,
    of: int,
    reader: Reader,
    words: ModuleType,
    page: ModuleType,
    language: Language,
) -> None:
    """Draw the reader's words beside the page's answer, whose points the reader ticks."""
    st.header(plain(page.heading(question.number, question.asked.of(language))), anchor=False)
    st.markdown(f"**{page.SAID}** {plain(question.claim.of(language))}")
    own, beside = st.columns(2, gap="medium")
    with own:
        st.subheader(words.YOURS, anchor=False)
        st.text(run.words[question.number] or words.NOTHING_SAID)
    with beside:
        try:
            with st.spinner(page.MEASURING):
                answer = reader.answer(question, page)
        except ValueError as error:
            problems.show(str(error), what=page.UNMEASURED)
            return
        opened.verdict(answer, reader, page, language)
        st.markdown(f"**{words.NAMED}**")
        ticked = [_point(part, held, answer, words, page, language) for part, held in _parts(answer)]
        said = words.because(page.BECAUSE, plain(question.because.of(language)))
        ticked.append(
            st.checkbox(said, key=f"named {question.number} why {language}", wrap=True, persist_state="session")
        )
        label, icon = appearance.on_accent(words.NEXT if at + 1 < of else words.RESULT)
        st.button(
            label,
            icon=icon,
            type="primary",
            key="interview next",
            on_click=_go_on,
            args=(run, question.number, sum(ticked), len(ticked), at + 1),
        )


def _parts(answer: Answer) -> list[tuple[ClaimPart, bool]]:
    return list(zip(answer.question.parts, answer.held, strict=False))


def _point(
    part: ClaimPart, held: bool, answer: Answer, words: ModuleType, page: ModuleType, language: Language
) -> bool:
    """Draw a point that a good answer names, a part as it was measured, and return whether it is ticked."""
    before = {"claim": "", "limit": words.BUT, "mechanism": words.WHY}[part.role] if held else words.NOT_SO
    said = f"{before} {plain(page.quoted(part.statement.of(language)))}".strip()
    key = f"named {answer.question.number} {answer.question.parts.index(part)} {language}"
    ticked = st.checkbox(said, key=key, wrap=True, persist_state="session")
    st.caption("  \n".join(plain(line) for line in opened.checked(part, answer, page, language)))
    return ticked


def _go_on(run: _Run, number: int, named: int, of: int, at: int) -> None:
    _mark(run, number, named, of)
    link.assign("interview_at", at)


def _mark(run: _Run, number: int, named: int, of: int) -> None:
    """Keep how an answer went, once: it goes into the days of the reader's guesses too."""
    if number not in run.named:
        guesses.mark(number, right=interview.passes(named, of), guess="words")
    run.named[number] = named, of


def _result(run: _Run, numbers: Sequence[int], words: ModuleType, language: Language) -> None:
    """Draw how the interview went, and what to repeat."""
    passed = [number for number in numbers if interview.passes(*run.named.get(number, (0, 0)))]
    named, of = (sum(counts) for counts in zip(*run.named.values(), strict=True)) if run.named else (0, 0)
    st.header(words.result(named, of, len(passed), len(numbers)), anchor=False)
    again = [number for number in numbers if number not in passed]
    for heading, listed in ((words.REPEAT, again), (words.KNOWN, passed)):
        if not listed:
            continue
        st.subheader(heading, anchor=False)
        if listed is again:
            st.text(words.back(len(again)))
        with st.container(gap="xxsmall"):
            for number in listed:
                _row(run, number, words, language)
    if not again:
        st.text(words.REPEAT_NONE)
    st.button(words.AGAIN, key="interview again", on_click=_begin, args=(run.of.level,))


def _row(run: _Run, number: int, words: ModuleType, language: Language) -> None:
    said = words.SKIPPED if number in run.skipped or number not in run.named else words.named(*run.named[number])

    def open_question() -> None:
        _leave()
        link.assign("q", number)

    st.button(
        f":gray[{number}] {plain(BY_NUMBER[number].asked.of(language))} :gray[{said}]",
        key=f"interviewed {number}",
        type="tertiary",
        on_click=open_question,
    )
