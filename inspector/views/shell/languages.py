"""The reader's language: that of the browser until the reader chooses another, which stays on all pages and in links.

The frame of every page is in it, and what has been written in both languages.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from inspector.questions.record.both import LANGUAGES, Language
from inspector.views.shell import link
from inspector.wording import in_language
from inspector.wording.reader import shell as words

WORDS: dict[Language, ModuleType] = {language: in_language(language, "questions.page") for language in LANGUAGES}
_NAMED = ("model", "switches.group")  # choices that outlive a run, and whose options are named in a language
_DRAWN = "language.drawn"  # in the session: the language of this run, and of the last one until `take`
_CHOSEN = "language.chosen"  # in the session: what the reader or the link chose


def chosen() -> Language:
    """Return the reader's language, which `take` finds out in each run; English outside of a visit."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return "en"
    language: Language | None = st.session_state.get(_DRAWN)
    return language or _of_browser()


def take() -> None:
    """Take the language from the address, where it names one; elsewhere the language stays as it was.

    The browser's Back leads through addresses without a language, which is no part of a page's state.
    """
    state = st.session_state
    if (asked := _named()) is not None:
        state[_CHOSEN] = asked
    language = in_link() or _of_browser()
    if state.get(_DRAWN, language) != language:
        for key in filter(state.__contains__, _NAMED):
            state[key] = state[key]  # the browser has the old name of the choice, which is none of the new ones
    state[_DRAWN] = language


def in_link() -> Language | None:
    """Return the language that the address names: the one that was chosen; None where none was."""
    language: Language | None = st.session_state.get(_CHOSEN)
    return language


def complain() -> None:
    """Say that the link names a language that there is not."""
    asked = st.query_params.get(link.LANGUAGE)
    if asked is not None and _named() is None:
        link.refuse(link.LANGUAGE, asked, but=words.one_of(options=LANGUAGES, shown=chosen()))
        del st.query_params[link.LANGUAGE]


def switch() -> None:
    """Draw the other language's name, a click on which chooses it."""
    other: Language = "en" if chosen() == "zh" else "zh"
    st.button(
        words.OTHER_LANGUAGE,
        help=words.OTHER_LANGUAGE_HELP,
        key="language",
        type="tertiary",
        on_click=partial(_choose, other),
    )


def _choose(language: Language) -> None:
    st.session_state[_CHOSEN] = st.query_params[link.LANGUAGE] = language


def _named() -> Language | None:
    asked = st.query_params.get(link.LANGUAGE)
    return "zh" if asked == "zh" else "en" if asked == "en" else None


def _of_browser() -> Language:
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"
