"""A step of a lesson: the teacher's words, the way to a page, what is asked, and what an answer was held to.

A teacher's words are a stranger's, and stand as text: no Markdown is read in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from zlib import crc32

import streamlit as st

from inspector.lessons import answers as files
from inspector.lessons.judging import GUESSES, Judged, judge
from inspector.lessons.lesson import Code, Guess, Number, Place, Step
from inspector.practice.index import BY_NUMBER as TASKS
from inspector.questions.index import BY_NUMBER
from inspector.questions.record.both import Language
from inspector.sections.registry import PAGES
from inspector.text import plain
from inspector.views.components.upload import upload
from inspector.views.lessons.sheet import Sheet
from inspector.views.shell import appearance, available_models, languages, link, problems
from inspector.views.shell.question_reader import guesses
from inspector.wording.reader import pages as page_words


def show(sheet: Sheet, at: int, words: ModuleType, language: Language) -> None:
    """Draw a step; at: its number from 1."""
    lesson = sheet.lesson
    step = lesson.steps[at - 1]
    problem = _measure(sheet, at, words, language)  # before the list of steps, which says what is right
    judged = sheet.judged
    _choose(sheet, at, words)
    if step.words.of(language):
        st.text(step.words.of(language))
    if step.place is not None:
        _lead(step.place, words, language)
    answered = at in sheet.answers.given
    match step.asks:
        case Guess():
            _guess(sheet, at, step.asks, problem, words, language)
        case Number():
            _number(sheet, at, step.asks, words, language)
        case Code():
            _code(sheet, at, step.asks, words, language)
    if answered and lesson.feedback and step.why.of(language) and judged[at].right is not False:
        st.text(step.why.of(language))
    with st.container(horizontal=True, gap="small"):
        _turn(words.PREVIOUS, at - 1, key="lesson previous", disabled=at == 1)
        _turn(words.NEXT, at + 1, key="lesson next", disabled=at == len(lesson.steps))


def _choose(sheet: Sheet, at: int, words: ModuleType) -> None:
    """Draw the choice of a step, each with its kind and how it stands."""
    lesson, judged = sheet.lesson, sheet.judged
    names = {
        number: words.step(number, len(lesson.steps), _kind(step, words), _stands(sheet, number, judged, words))
        for number, step in enumerate(lesson.steps, 1)
    }
    drawn = crc32("".join(names.values()).encode())  # the browser tells a choice by its name, and names change
    key = f"lesson step {lesson.digest} {at} {drawn}"
    st.selectbox(
        words.STEP,
        list(names),
        at - 1,
        format_func=names.__getitem__,
        key=key,
        label_visibility="collapsed",
        on_change=lambda: link.assign("step", st.session_state[key]),
    )


def _kind(step: Step, words: ModuleType) -> str:
    match step.asks:
        case Guess(question):
            return str(words.question(question))
        case Code(task):
            return str(words.practice(task))
        case Number():
            return str(words.NUMBER)
    return str(words.READ)


def _stands(sheet: Sheet, at: int, judged: Mapping[int, Judged], words: ModuleType) -> str:
    """Say how a step stands, "" where nothing was answered or nothing is asked."""
    if at not in sheet.answers.given:
        return ""
    right = judged[at].right if sheet.lesson.feedback and at in judged else None
    return str(words.STANDS[right])


def _turn(label: str, to: int, *, key: str, disabled: bool) -> None:
    st.button(label, key=key, disabled=disabled, on_click=link.assign, args=("step", to))


def _lead(place: Place, words: ModuleType, language: Language) -> None:
    """Draw the way to a page; a model that is not offered here is named, and never loaded."""
    given = dict(place.link)
    if place.model and place.model not in available_models.ids():
        st.text(words.not_offered(place.model))
    elif PAGES[place.page].runs:
        given |= {"model": place.model} if place.model else {}
        given |= {"text": place.text} if place.text and PAGES[place.page].reads else {}
    link.to(place.page, given, label=plain(words.to_page(page_words.TITLES[place.page])))


# --- a question -------------------------------------------------------------------------------------------------------


def _measure(sheet: Sheet, at: int, words: ModuleType, language: Language) -> str:
    """Measure a question that was guessed, where the lesson tells what is right and gives no verdict itself.

    Returns a sentence on what failed, "" where nothing did.
    """
    asked = sheet.lesson.steps[at - 1].asks
    if not isinstance(asked, Guess) or asked.verdict is not None:
        return ""
    if not sheet.lesson.feedback or at not in sheet.answers.given:
        return ""
    if asked.model not in available_models.ids():
        return str(words.not_offered(asked.model))
    try:
        with st.spinner(words.MEASURING):
            sheet.measure(at, asked, languages.WORDS[language])
    except ValueError as error:
        return str(error)
    return ""


def _guess(sheet: Sheet, at: int, asked: Guess, problem: str, words: ModuleType, language: Language) -> None:
    """Draw a question with its guesses; then, where the teacher wants it, the verdict. problem: why there is none."""
    question, of_page = BY_NUMBER[asked.question], languages.WORDS[language]
    st.subheader(plain(question.asked.of(language)), anchor=False)
    st.markdown(f"**{of_page.SAID}** {plain(question.claim.of(language))}")
    guess = sheet.answers.given.get(at)
    if guess is None or not sheet.lesson.feedback:
        st.markdown(of_page.GUESS)
        for column, offered in zip(st.columns(len(GUESSES), gap="small"), GUESSES, strict=True):
            chosen = offered == guess
            column.button(
                appearance.on_accent(of_page.GUESSES[offered])[0] if chosen else of_page.GUESSES[offered],
                key=f"lesson guess {offered} {at}",
                type="primary" if chosen else "secondary",
                width="stretch",
                on_click=_take_guess,
                args=(sheet, at, offered),
            )
        if guess is not None:
            st.text(words.KEPT_UNSEEN)
        return
    if problem:
        problems.show(problem, what=of_page.UNMEASURED)
        return
    verdict = asked.verdict or sheet.verdicts.get(at)
    judged = judge(asked, guess, verdict=verdict)
    if verdict is not None:
        st.markdown(_sign(judged, words.guessed(of_page.GUESSES.get(guess, "–"), of_page.ALWAYS[verdict])))
    if judged.right is not None:
        st.markdown(plain(question.because.of(language)))
    if guess in GUESSES:
        guesses().setdefault(question.number, str(guess))  # Questions does not ask again
    given = {"q": str(question.number)}
    if asked.model in available_models.ids():
        given |= {"model": asked.model, "text": asked.text}
    link.to("questions", given, label=plain(words.SEE_MEASURED))


def _take_guess(sheet: Sheet, at: int, guess: str) -> None:
    sheet.take(at, guess)


# --- a number ---------------------------------------------------------------------------------------------------------


def _number(sheet: Sheet, at: int, asked: Number, words: ModuleType, language: Language) -> None:
    """Draw the field for a number, and what the last one was held to."""
    key = f"lesson number {sheet.lesson.digest} {at}"
    wrong = f"{key} wrong"

    def take() -> None:
        typed = str(st.session_state[key] or "")
        value = files.number(typed)
        st.session_state[wrong] = value is None and bool(typed.strip())
        if value is not None:
            sheet.take(at, value)

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            words.found(asked.unit.of(language)),
            max_chars=40,
            key=key,
            placeholder=words.NUMBER_HINT,
            persist_state="session",
            width=320,
            on_change=take,
        )
        st.button(words.TAKE, key=f"lesson take {at}", on_click=take)
    if st.session_state.get(wrong):
        st.text(words.NO_NUMBER)
    answer = sheet.answers.given.get(at)
    if answer is None:
        return
    if not sheet.lesson.feedback:
        st.text(words.kept_number(answer))
        return
    judged = judge(asked, answer)
    if judged.right or not isinstance(answer, float):
        st.markdown(_sign(judged, words.right(answer, judged.by)))
    else:
        low = answer < float(asked.check.bound)
        within = asked.check.needs.partition("±")[2].strip()
        st.markdown(_sign(judged, words.wrong(answer, low=low, within=within)))


# --- a practice task --------------------------------------------------------------------------------------------------


def _code(sheet: Sheet, at: int, asked: Code, words: ModuleType, language: Language) -> None:
    """Draw the field for a file of Python, which no server runs."""
    task = TASKS[asked.task]
    st.subheader(plain(task.title.of(language)), anchor=False)
    st.markdown(plain(task.asked.of(language)))
    link.to("practice", {"task": str(task.number)}, label=plain(words.TO_TASK))
    key = f"lesson code {sheet.lesson.digest} {at}"
    answer = sheet.answers.given.get(at)
    if st.session_state.get(f"{key} kept") != answer:  # from the browser, from a file, or forgotten
        st.session_state[key] = answer if isinstance(answer, str) else ""
    st.session_state[f"{key} kept"] = answer

    def take(text: str | None) -> None:
        code = text if text is not None else "#" * (files.MOST_CODE + 1)
        st.session_state[f"{key} said"] = ""
        if len(code) > files.MOST_CODE or not sheet.take(at, code if code.strip() else None):
            st.session_state[f"{key} said"] = words.large_code(files.MOST_CODE)
        else:
            st.session_state[key] = code

    st.text_area(
        words.YOUR_FILE, max_chars=files.MOST_CODE, height=200, key=key, persist_state="session", help=words.NOT_RUN
    )
    with st.container(horizontal=True, gap="small"):
        st.button(words.TAKE, key=f"lesson take {at}", on_click=lambda: take(str(st.session_state[key] or "")))
        upload(words.CHOOSE_FILE, accept=".py", most=files.MOST_CODE, key=f"{key} file", on_text=take)
    if said := st.session_state.get(f"{key} said"):
        st.text(said)
    if isinstance(answer, str):
        st.text(words.kept_code(answer.count("\n") + 1))
    st.caption(words.NOT_RUN)
    st.code(f"python -m inspector.practice {task.number} mine.py", language=None, wrap_lines=True)


def _sign(judged: Judged, sentence: str) -> str:
    """Write a sentence with a mark that is no colour alone."""
    icon, colour = (":material/check_circle:", "green") if judged.right else (":material/cancel:", "red")
    return f":{colour}[{icon}] {plain(sentence)}"
