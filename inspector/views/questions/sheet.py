"""The sheet to print: every question that is not measured yet is measured first, with Stop; then the file is there."""

from __future__ import annotations

from collections.abc import Hashable
from types import ModuleType
from typing import TYPE_CHECKING

import streamlit as st

from inspector.export import questions_sheet
from inspector.questions.index import QUESTIONS
from inspector.questions.record.both import Language
from inspector.views.questions.reader import Reader
from inspector.views.shell import downloads, problems, progress

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_MADE = "questions.sheet"  # in the session: what the file is of, and the file


def show(reader: Reader, words: ModuleType, language: Language, place: DeltaGenerator) -> None:
    """Draw the button, or the file once it is made; place: of the bar while it is being made."""
    own = questions_sheet.WORDS[language]
    made_of: Hashable = (reader, language)
    known, page = st.session_state.get(_MADE, (None, b""))
    if known == made_of:
        downloads.button("questions.html", lambda: page, own.PREPARE_HINT, label=own.SAVE)
        return
    if st.button(
        own.PREPARE,
        icon=":material/print:",
        help=own.PREPARE_HINT,
        type="tertiary",
        key=f"prepare sheet {language}",
    ):
        _make(reader, words, language, place, made_of)


def _make(reader: Reader, words: ModuleType, language: Language, place: DeltaGenerator, made_of: Hashable) -> None:
    """Measure, write the file, and run the page again; what is measured when the reader presses Stop stays."""
    bar = progress.Bar(place, stop="stop sheet", holds=False, label=words.STOP)
    answers = []
    try:
        for done, question in enumerate(QUESTIONS):
            bar.draw(done, len(QUESTIONS), words.settling(done, len(QUESTIONS)), now=done == 0)
            answers.append(reader.answer(question, words))
    except ValueError as error:
        bar.clear()
        with place:
            problems.show(str(error), what=words.UNMEASURED)
        return
    page = questions_sheet.sheet(answers, model=reader.name, text=reader.text, language=language)
    st.session_state[_MADE] = made_of, page.encode()
    st.rerun()
