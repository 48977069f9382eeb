"""The questions that a page answers, listed on every page beside its title or, in a narrow window, at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from inspector.text import plain
from inspector.views.shell import languages, link, pages

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from inspector.questions.record.question import Question

PAGE = "questions"
_SECTIONS = ("section", "part")  # parameters that name a section of a page


def draw(place: DeltaGenerator, page: str) -> None:
    """Draw the list into a place, once the page's own picture is there.

    The index of questions brings the analysis, and torch with it, for which the page's frame does not wait.
    page: the address of the page.
    """
    from inspector.questions.index import BY_NUMBER, FIRST, QUESTIONS

    if page == PAGE:
        return
    language = languages.chosen()
    words = languages.WORDS[language]
    here = [question for question in QUESTIONS if question.see is not None and address(question) == page]
    listed: dict[str, list[Question]]  # by their heading
    if page == "":  # whoever is new comes here first
        label = words.INVITATION
        listed = {"": [BY_NUMBER[number] for number in FIRST]}
    elif here:
        label = words.here(len(here))
        listed = {
            words.ON_THIS_VIEW: [question for question in here if _is_open(question)],
            words.ON_THIS_PAGE: [question for question in here if not _is_open(question)],
        }
    else:
        return
    with place.popover(label, icon=":material/quiz:", key="asked here"):
        for heading, questions in listed.items():
            if heading and questions:
                st.markdown(f"**{heading}**")
            for question in questions:
                _link(f"{question.number} · {question.asked.of(language)}", {"q": str(question.number)})
        every = {"theme": "all"}
        # It leads, or the question that was open there before would stand in place of the list.
        link.to(PAGE, every, label=plain(words.EVERY), icon=None)


def address(question: Question) -> str:
    """Return the address of the page that shows a question's answer whole; the first page's is empty."""
    page = "" if question.see is None else question.see.page
    return "" if page == "attention" else page


def _link(label: str, query: dict[str, str]) -> None:
    st.page_link(pages.FILES[PAGE], label=plain(label), query_params=link.of_sidebar() | query)


def _is_open(question: Question) -> bool:
    """Return True if the page is in a section that the question leads to."""
    assert question.see is not None
    sections = {name: value for name, value in question.see.state.items() if name in _SECTIONS}
    return bool(sections) and all(link.open_choice(name) == value for name, value in sections.items())
