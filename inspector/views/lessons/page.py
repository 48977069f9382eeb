"""Lessons: a teacher's steps one by one, with what a reader answers beside them; without a lesson, ways to open one."""

from __future__ import annotations

from types import ModuleType

import streamlit as st

from inspector.lessons.lesson import Lesson
from inspector.questions.record.both import LANGUAGES, Language
from inspector.text import plain
from inspector.views.components.top import at_top_of
from inspector.views.lessons import opening, stepping
from inspector.views.lessons.sheet import Sheet, panel
from inspector.views.shell import languages, link, open_lesson
from inspector.wording import in_language

WORDS: dict[Language, ModuleType] = {language: in_language(language, "lessons") for language in LANGUAGES}


def show(lesson: Lesson, at: int, words: ModuleType, language: Language) -> None:
    """Draw a step on one side, the answers on the other."""
    sheet = Sheet.of(lesson)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(plain(lesson.title.of(language)), anchor=False, width="content")
        opening.hand_on(lesson, words, language)
        st.button(words.LEAVE, key="leave lesson", type="tertiary", on_click=opening.leave)
    step, answers = st.columns([3, 2], gap="medium")
    with step.container(border=True):
        stepping.show(sheet, at, words, language)
    with answers.container(border=True):
        panel(sheet, words)
    sheet.keep()


link.parameters("lesson", "step")
language = languages.chosen()
words = WORDS[language]
lesson = opening.now(words)
at = 0
if lesson is not None:
    at = link.number("step", default=1, first=1, last=len(lesson.steps)) or 1
    open_lesson.keep(lesson.title.of(language), lesson=str(link.held("lesson") or ""), step=at, of=len(lesson.steps))
link.publish()
if lesson is None:
    opening.offer(words, language)
else:
    show(lesson, at, words, language)
at_top_of(f"{lesson.digest if lesson else ''} {at}")
