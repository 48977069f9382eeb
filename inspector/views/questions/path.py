"""A teacher's path on the page: the step with its words, the ways on, and the editor that makes the link."""

from __future__ import annotations

from types import ModuleType
from urllib.parse import urlencode

import streamlit as st

from inspector.questions import path as paths
from inspector.questions.index import BY_NUMBER, MERGED
from inspector.questions.path import Path, Step
from inspector.questions.record.both import LANGUAGES, Language
from inspector.views.shell import link
from inspector.wording import in_language

PARAMETERS = ("path", "path_words")  # which the page declares
WORDS: dict[Language, ModuleType] = {language: in_language(language, "questions.path") for language in LANGUAGES}
_LONGEST = 200  # characters of the numbers in a link
_ASKED = 10 * paths.ROOM  # characters of the words that are looked at, to say how many are too many
_KEPT = ("model", *link.TEXTS[:3])  # of the address, beside the path


def now() -> Path | None:
    """Return the path that the link leads along; None without one, and where it is none, which is said."""
    numbers = link.text("path", pattern=f".{{0,{_LONGEST}}}")
    words = link.text("path_words", pattern=f".{{0,{_ASKED}}}")
    if not numbers:
        return None
    try:
        return paths.decode(numbers, words, known=BY_NUMBER, merged=MERGED)
    except ValueError as error:
        link.complain(f"{error} You see all questions instead.")
        _leave()
        return None


def show(path: Path, number: int | None, language: Language) -> None:
    """Draw the step of an opened question with the words before it, or the way to the first one."""
    words = WORDS[language]
    at = path.numbers.index(number) if number in path.numbers else None
    with st.container(border=True, gap="small"):
        if at is None:
            st.markdown(f"**{words.whole(len(path.steps))}**")
        else:
            st.markdown(f"**{words.step(at + 1, len(path.steps))}**")
            if path.steps[at].words:
                st.text(path.steps[at].words)
        with st.container(horizontal=True, gap="small"):
            if at is None:
                _to(words.START, path.numbers[0], key="path start")
            else:
                before, after = path.numbers[:at], path.numbers[at + 1 :]
                _to(words.PREVIOUS, before[-1] if before else None, key="path previous")
                _to(words.NEXT, after[0] if after else None, key="path next")
            st.button(words.LEAVE, key="path leave", type="tertiary", on_click=_leave)


def editor(language: Language) -> None:
    """Draw the editor, folded: questions in an order, words before each, and the link."""
    words = WORDS[language]
    with st.expander(words.MAKE, icon=":material/route:", key=f"make a path {language}"):
        st.caption(words.ABOUT)
        chosen = st.multiselect(
            words.CHOOSE,
            list(BY_NUMBER),
            format_func=lambda number: f"{number} · {BY_NUMBER[number].asked.of(language)}",
            max_selections=paths.MOST_STEPS,
            key="path questions",
            persist_state="session",
        )
        if not chosen:
            return
        steps = [
            Step(
                number,
                st.text_area(
                    words.words_before(number),
                    max_chars=paths.ROOM,
                    height=80,
                    key=f"path words {number}",
                    persist_state="session",
                ),
            )
            for number in chosen
        ]
        made = Path(tuple(steps))
        left = paths.room(made)
        st.text(words.room(left))
        if left < 0:
            return
        given = paths.encode(made)
        st.text(words.LINK)
        st.code(_address(given, language), language=None, wrap_lines=True)
        st.button(words.OPEN, icon=":material/play_arrow:", key="path open", on_click=_open, args=(given,))


def _to(label: str, number: int | None, *, key: str) -> None:
    st.button(label, key=key, disabled=number is None, on_click=link.assign, args=("q", number))


def _leave() -> None:
    for name in PARAMETERS:
        link.assign(name, None)


def _open(given: dict[str, str]) -> None:
    for name in PARAMETERS:
        link.assign(name, given.get(name))
    link.assign("q", None)


def _address(given: dict[str, str], language: Language) -> str:
    """Write the whole address of a path on this server, with the model and text that the reader has now."""
    kept = {name: st.query_params[name] for name in _KEPT if name in st.query_params}
    page = (st.context.url or "questions").partition("?")[0]
    return f"{page}?{urlencode({**kept, 'lang': language, **given})}"
