"""The files of the list: a sheet to print, cards, a table. What is not measured yet is measured first, with Stop."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import streamlit as st

from inspector.export import questions_sheet
from inspector.questions.index import QUESTIONS
from inspector.questions.record.both import Language
from inspector.questions.record.question import Question
from inspector.views.questions import listing
from inspector.views.shell import downloads, problems, progress
from inspector.views.shell.question_reader import Reader

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_MADE = "questions.sheet"  # in the session: what the files are of, the sheet, and the answers
_JUST_MADE = "questions.sheet.just"  # the number of its answers, until that is said


def show(
    theme: str, level: int, reader: Reader, words: ModuleType, language: Language, *, place: DeltaGenerator
) -> None:
    """Draw the button for the files of the list, or the files once they are made.

    theme, level: of the list, as in the link. place: of the bar while the sheet is made, and of what is said then.
    """
    own = questions_sheet.WORDS[language]
    made_of: Hashable = (theme, level, reader, language)
    known, page, answers = st.session_state.get(_MADE, (None, b"", ()))
    if known == made_of:
        if count := st.session_state.pop(_JUST_MADE, 0):
            place.success(own.ready(count), icon=":material/check:")
        from inspector.export import anki  # its library is needed for no other page

        with st.container(horizontal=True):
            downloads.button("questions.html", lambda: page, own.PREPARE_HINT, label=own.SAVE)
            downloads.button(f"questions-{language}.apkg", lambda: anki.package(answers, language), own.CARDS)
            downloads.button(f"questions-{language}.csv", lambda: anki.csv(answers, language), own.TABLE)
        return
    if st.button(
        own.PREPARE,
        icon=":material/download:",
        help=own.PREPARE_HINT,
        type="tertiary",
        key=f"prepare sheet {language}",
    ):
        chosen = [question for question in QUESTIONS if listing.is_in(question, theme, level)]
        _make(chosen, reader, words, language, place=place, made_of=made_of)


def _make(
    questions: Sequence[Question],
    reader: Reader,
    words: ModuleType,
    language: Language,
    *,
    place: DeltaGenerator,
    made_of: Hashable,
) -> None:
    """Measure, write the file, and run the page again; what is measured when the reader presses Stop stays."""
    bar = progress.Bar(place, stop="stop sheet", holds=False, label=words.STOP)
    answers = []
    try:
        for done, question in enumerate(questions):
            bar.draw(done, len(questions), words.settling(done, len(questions)), now=done == 0)
            answers.append(reader.answer(question, words))
    except ValueError as error:
        bar.clear()
        with place:
            problems.show(str(error), what=words.UNMEASURED)
        return
    address = (st.context.url or "").partition("?")[0].removesuffix("/questions")
    page = questions_sheet.sheet(answers, model=reader.name, text=reader.text, language=language, address=address)
    st.session_state[_MADE] = made_of, page.encode(), tuple(answers)
    st.session_state[_JUST_MADE] = len(answers)
    st.rerun()
