"""The list of questions: searched, by themes, each with its verdict once it was measured, and Settle all."""

from __future__ import annotations

from collections import Counter
from types import ModuleType

import streamlit as st

from inspector.questions import course
from inspector.questions.index import MERGED, QUESTIONS, THEMES
from inspector.questions.record.both import Language
from inspector.questions.record.question import Question
from inspector.text import plain
from inspector.views.questions import badges, guessing, interviewing
from inspector.views.shell import appearance, link, problems, progress
from inspector.views.shell.question_reader import Reader

MOST_LETTERS = 60
ALL = "all"  # in the link, in place of a theme
_SPOKEN = {"√": " square root 根号 开方"}  # what a reader types for a sign


def theme() -> str:
    """Return the theme whose questions are listed, ALL for every theme; "" while the list is closed."""
    asked = link.choice("theme", default="", options=["", ALL, *(theme.id for theme in THEMES if theme.questions)])
    if not asked and "search" in st.query_params:  # a search is made in the list
        link.assign("theme", ALL)
        return ALL
    return asked


def level() -> int:
    """Return the level whose questions are listed, 0 for every level."""
    return int(link.choice("level", default="0", options=["0", *map(str, course.LEVELS)]))


def is_in(question: Question, theme: str, level: int) -> bool:
    """Return True if a question is in the list of a theme, or of all, and of a level, or of all (0)."""
    of_theme = theme == ALL or any(question in one.questions for one in THEMES if one.id == theme)
    return of_theme and level in (0, course.of(question.number).level)


def way(words: ModuleType) -> None:
    """Draw the button that opens the list."""

    def open_list() -> None:
        for name in ("q", *interviewing.PARAMETERS):
            link.assign(name, None)
        link.assign("theme", theme() or ALL)

    st.button(
        words.ALL_QUESTIONS,
        icon=":material/list:",
        type="tertiary",
        key="all questions",
        on_click=open_list,
    )


def show(theme: str, level: int, reader: Reader, words: ModuleType, language: Language) -> None:
    """Draw the list of a theme and a level, or of all; Settle all measures its questions, one after the other."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        typed = st.text_input(
            words.SEARCH,
            "",
            max_chars=MOST_LETTERS,
            key="search",
            bind=link.bind_words("search", default="", most=MOST_LETTERS),
            placeholder=words.SEARCH_HINT,
            persist_state="session",
            width=260,
        )
        _themes(theme, words, language)
        _levels(level, language)
        label, icon = appearance.on_accent(words.SETTLE, ":material/done_all:")
        pressed = st.button(label, icon=icon, type="primary", key="settle all")
    found = {
        one.id: [
            question
            for question in one.questions
            if is_in(question, ALL, level) and _fits(question, one.name, typed or "")
        ]
        for one in THEMES
        if theme in (ALL, one.id)
    }
    listed = [question for questions in found.values() for question in questions]
    place = st.empty()
    _count(listed, reader, words, filtered=theme != ALL or bool(level) or bool((typed or "").strip()))
    if not listed:
        st.text(words.NO_MATCH)
        st.button(words.SHOW_ALL, on_click=_clear, key="show all")
    for one in THEMES:
        if found.get(one.id):
            st.subheader(one.name.of(language), anchor=False)
            with st.container(gap="xxsmall"):
                for question in found[one.id]:
                    _row(question, reader, words, language)
    if pressed:
        _settle(listed, reader, words, place)


def _themes(theme: str, words: ModuleType, language: Language) -> None:
    """Draw the choice of a theme."""
    names = {ALL: words.ALL_THEMES, **{theme.id: theme.name.of(language) for theme in THEMES if theme.questions}}
    key = f"theme {theme} {language}"
    st.selectbox(
        words.THEME,
        list(names),
        list(names).index(theme),
        format_func=names.__getitem__,
        key=key,
        on_change=lambda: link.assign("theme", st.session_state[key]),
        width=260,
    )


def _levels(level: int, language: Language) -> None:
    """Draw the choice of a level."""
    words = guessing.WORDS[language]
    names = {0: words.ALL_LEVELS, **words.LEVELS}
    key = f"level {level} {language}"
    st.selectbox(
        words.LEVEL,
        list(names),
        level,
        format_func=names.__getitem__,
        key=key,
        on_change=lambda: link.assign("level", str(st.session_state[key]) if st.session_state[key] else None),
        width=220,
    )


def _clear() -> None:
    st.session_state["search"] = ""
    link.assign("theme", ALL)
    link.assign("level", None)


def _fits(question: Question, theme: object, typed: str) -> bool:
    """Return True if a question has each word that was typed, in one of the languages, or is of that number."""
    wanted = typed.casefold().split()
    if len(wanted) == 1 and wanted[0].isdecimal():
        return question.number == MERGED.get(int(wanted[0]), int(wanted[0]))
    texts = [question.asked, question.claim, *(part.statement for part in question.parts), theme]
    text = " ".join(f"{one.en} {one.zh}" for one in texts).casefold()  # type: ignore[attr-defined]
    text += " ".join(spoken for sign, spoken in _SPOKEN.items() if sign in text)
    return all(word in text for word in wanted)


def _count(listed: list[Question], reader: Reader, words: ModuleType, *, filtered: bool) -> None:
    """Say what was found, and count the verdicts of what was measured."""
    settled = [verdict for question in listed if (verdict := reader.settled(question.number)) is not None]
    said = [words.match(len(listed), len(QUESTIONS))] if filtered and listed else []
    if settled:
        tally = Counter[str](judged for judged, _ in settled)
        tally["instead"] = sum(stands_in for judged, stands_in in settled if judged != "failed")
        said.append(words.tally(tally))
    if said:
        st.text("  ·  ".join(said))


def _row(question: Question, reader: Reader, words: ModuleType, language: Language) -> None:
    verdict = reader.settled(question.number)
    icon, said = badges.sign(question, None if verdict is None else verdict[0], words)
    step = course.of(question.number)
    place = guessing.WORDS[language].in_list(step.level, step.first)
    st.button(
        f":gray[{question.number}] {plain(question.asked.of(language))} :gray[{plain(place)}] :gray[{said}]",
        icon=icon,
        key=f"question {question.number}",
        type="tertiary",
        on_click=link.assign,
        args=("q", question.number),
    )


def _settle(
    questions: list[Question], reader: Reader, words: ModuleType, place: st.delta_generator.DeltaGenerator
) -> None:
    """Measure one question after the other; what is measured when the reader presses Stop stays."""
    bar = progress.Bar(place, stop="stop settling", holds=False, label=words.STOP)
    try:
        for done, question in enumerate(questions):
            bar.draw(done, len(questions), words.settling(done, len(questions)), now=True)
            reader.answer(question, words)
    except ValueError as error:
        bar.clear()
        problems.show(str(error), what=words.UNMEASURED)
        return
    st.rerun()
