"""The language of what is written in two: the pages Questions and Practice, and the list of questions on every page."""

from __future__ import annotations

from types import ModuleType

import streamlit as st

from inspector.questions.record.both import LANGUAGES, Language
from inspector.views.shell import link
from inspector.wording import in_language

NAMES: dict[Language, str] = {"en": "English", "zh": "中文"}
WORDS: dict[Language, ModuleType] = {language: in_language(language, "questions.page") for language in LANGUAGES}
PRACTICE: dict[Language, ModuleType] = {language: in_language(language, "practice") for language in LANGUAGES}
_FRAMES = {"questions": WORDS, "practice": PRACTICE}
_PARAMETER = "lang"


def chosen() -> Language:
    """Return the language that the reader chose on Questions or Practice, at first that of the browser."""
    held = link.held(_PARAMETER)
    return "zh" if held == "zh" else "en" if held == "en" else _of_browser()


def frame(page: str) -> ModuleType | None:
    """Return the words of a page's title line in the reader's language; None for a page that is in English alone.

    page: its address.
    """
    return _FRAMES[page][chosen()] if page in _FRAMES else None


def switch(label: str) -> Language:
    """Draw the switch on a page that declares the parameter "lang", and return the language; label: for hearers."""
    now: Language = "zh" if link.choice(_PARAMETER, default=_of_browser(), options=LANGUAGES) == "zh" else "en"
    key = f"language {now}"  # a switch that a link has moved is a new one

    def choose() -> None:
        link.assign(_PARAMETER, st.session_state[key])

    st.segmented_control(
        label,
        LANGUAGES,
        default=now,
        format_func=NAMES.__getitem__,
        key=key,
        on_change=choose,
        required=True,
        label_visibility="collapsed",
    )
    return now


def _of_browser() -> Language:
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"
