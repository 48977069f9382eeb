"""One question: what people say, a guess, and then the verdict with all that it follows from."""

from __future__ import annotations

from types import ModuleType

import pandas as pd
import streamlit as st

from inspector.plots import questions as draw
from inspector.questions.asking import Answer
from inspector.questions.filled import by_measured, filled, lines_of, needed, shown
from inspector.questions.record.both import Language
from inspector.questions.record.picture import Heatmap, Picture
from inspector.questions.record.question import ClaimPart, Question, held_claims
from inspector.questions.record.reasons import reason
from inspector.questions.record.subject import MOST_TOKENS
from inspector.sections.registry import PAGES
from inspector.text import plain
from inspector.views.components import width
from inspector.views.figures import chart, matrix, save
from inspector.views.questions import badges, guesses, guessing, whole
from inspector.views.shell import asked_here, available_models, link, problems, session
from inspector.views.shell.question_reader import Reader
from inspector.wording.reader import pages as page_words
from models.huggingface.mixers import has_mixers

ROOM = 720  # pixels: a line of large type that is read without turning the head


def show(question: Question, reader: Reader, words: ModuleType, language: Language, *, alone: bool) -> None:
    """Draw the question in the middle, and its answer once the reader guessed or asked for it.

    alone: no path leads on from the question, so a button does.
    """
    if question.number not in guesses.of_visit():
        with st.container(horizontal_alignment="center"), st.container(width=ROOM):
            guessing.ask(question, words, language, alone=alone)
        return
    st.header(plain(words.heading(question.number, question.asked.of(language))), anchor=False)
    st.markdown(f"**{words.SAID}** {plain(question.claim.of(language))}")
    try:
        with st.container(), st.spinner(words.MEASURING):
            answer = reader.answer(question, words)
    except ValueError as error:
        problems.show(str(error), what=words.UNMEASURED)
        return
    if isinstance(answer.picture, Heatmap) and answer.picture.beside is not None:  # two maps take the whole width
        judged, figure = st.container(), st.container()
        claim = st.container()
    else:
        judged, figure = st.columns([2, 3], gap="medium")
        claim = judged
    with judged:
        verdict(answer, reader, words, language)
        guessing.judge(answer, words, language)
        if alone:
            guessing.lead_on(question, words)
    with claim:
        parts(question.parts, answer, words, language)
        _see(answer, words)
    with figure:
        if answer.picture is not None:
            _picture(question, answer.picture, words, language)
        elif question.formula and answer.verdict is not None:
            _formula(answer, words)
    _numbers(answer, reader, words, language)
    if answer.picture is not None and question.formula and answer.verdict is not None:
        _formula(answer, words)
    for heading, said in ((words.BECAUSE, question.because), (words.REFUTED, question.refuted)):
        st.subheader(heading, anchor=False)
        st.markdown(plain(said.of(language)))
    if question.setting.of(language):
        st.subheader(words.SETTING, anchor=False)
        st.markdown(plain(question.setting.of(language)))
    if answer.text:
        st.caption(f"{words.read(MOST_TOKENS)} {plain(_short(answer.text))}")
    if question.whole is not None:
        whole.show(question, question.whole, reader, words, language)
    if question.papers:
        st.subheader(words.PAPERS, anchor=False)
        st.markdown(
            "\n".join(f"- {plain(paper.cited)}: [{plain(paper.title)}]({paper.url})" for paper in question.papers)
        )
    guessing.place(question, language)


def _short(text: str, most: int = 300) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


# --- the verdict ------------------------------------------------------------------------------------------------------


def verdict(answer: Answer, reader: Reader, words: ModuleType, language: Language) -> None:
    """Draw the verdict as a badge, and under what conditions it stands."""
    question = answer.question
    if answer.stands_in:
        instead = available_models.name_in_frame(str(answer.measured_on))
        st.badge(words.CANNOT, icon=":material/block:", color="gray")
        lacks = "" if question.of is None else question.of.lacks.of(language)
        st.text(
            words.cannot(reader.name, lacks, instead) if reader.at_hand else words.not_at_hand(reader.name, instead)
        )
    if answer.verdict is None:
        icon, colour = badges.LOOKS["failed"]
        st.badge(words.UNMEASURED, icon=icon, color=colour)
        if answer.problem is not None:
            st.text(answer.problem.of(language))
        return
    icon, colour = badges.LOOKS[answer.verdict]
    said = badges.words_of(question, answer.verdict, words)
    if answer.stands_in:
        said = words.of_model(available_models.name_in_frame(str(answer.measured_on)), said)
    if answer.verdict in guessing.BETWEEN:
        held = held_claims(question.parts, answer.held)
        said = f"{said} · {words.held_of(sum(held), len(held))}"
    st.badge(said, icon=icon, color=colour)
    if question.measure is not None:
        st.caption(words.SCOPES[question.scope])
    if answer.measured_on is not None and has_mixers(session.load(answer.measured_on).network):
        st.caption(words.SOFTMAX_ALONE)
    if question.measure is None and question.stated is not None:
        st.text(words.STATED)
        st.markdown(plain(question.stated.why.of(language)))


def parts(all_parts: tuple[ClaimPart, ...], answer: Answer, words: ModuleType, language: Language) -> None:
    """Draw each part of a claim with whether it holds, its numbers and what they need to be."""
    for part, held in zip(all_parts, answer.held, strict=False):
        icon, colour = badges.LOOKS["true" if held else "false"]
        if part.role != "claim":  # it has no say in the verdict
            colour = "gray"
        mark = f":{colour}-badge[{icon} {words.ROLES[part.role] if held else words.NOT_HELD}]"
        st.markdown(f"{mark} {plain(words.quoted(part.statement.of(language)))}")
        st.caption(
            "  \n".join(plain(line) for line in checked(part, answer, words, language)),
            help=plain("\n\n".join(dict.fromkeys(reason(check).of(language) for check in part.checks))),
        )


def checked(part: ClaimPart, answer: Answer, words: ModuleType, language: Language) -> list[str]:
    """Write each number that a part reads, and what it would need to be."""
    quantities = answer.question.numbers
    lines = []
    for check in part.checks:
        quantity = quantities.get(check.number)
        name = check.number if quantity is None else quantity.name.of(language)
        colon, (opens, closes) = ("：", "（）") if language == "zh" else (": ", ("(", ")"))
        opens = opens if language == "zh" else f" {opens}"
        needs = needed(check, quantities, answer.numbers, language)
        bound = words.bound(needs, holds=check.holds(answer.numbers))
        lines.append(f"{name}{colon}{shown(answer.numbers[check.number], quantity, language)}{opens}{bound}{closes}")
    return lines


def _see(answer: Answer, words: ModuleType) -> None:
    """Draw the link to the page which shows the answer whole."""
    see = answer.question.see
    if see is None:
        return
    page, given = asked_here.address(answer.question), dict(see.state)
    instead = ""
    asks = PAGES[page].runs and "model" not in given
    if asks and answer.stands_in and answer.measured_on in available_models.ids():
        given |= {"model": str(answer.measured_on), "text": answer.text}
        instead = available_models.name_in_frame(str(answer.measured_on))
    link.to(page, given, label=plain(words.see(page_words.TITLES[page], instead)))


# --- figure and numbers -----------------------------------------------------------------------------------------------


def _picture(question: Question, picture: Picture, words: ModuleType, language: Language) -> None:
    key, labels = f"question-{question.number}", save.Labels(**words.FIGURE, modes=words.MODES, matrix=words.MATRIX)
    if isinstance(picture, Heatmap):
        titles = [picture.title, picture.beside_title]
        panels = [
            matrix.Panel(
                values,
                rows=list(picture.rows),
                columns=list(picture.columns),
                title="" if title is None else title.of(language),
            )
            for values, title in zip((picture.values, picture.beside), titles, strict=True)
            if values is not None
        ]
        matrix.show(
            *panels,
            row_title=picture.row_title.of(language),
            column_title=picture.column_title.of(language),
            quantity=picture.quantity.of(language),
            diverging=picture.diverging,
            name=key,
            key=f"{key}-{language}",
            labels=labels,
        )
        return
    chart.show(
        draw.chart(picture, language=language),
        alt=draw.told(picture, language),
        key=f"{key}-{language}",
        name=key,
        labels=labels,
    )


def _formula(answer: Answer, words: ModuleType) -> None:
    st.subheader(words.FORMULA, anchor=False)
    formula = filled(answer.question.formula, answer.numbers)
    for line in lines_of(formula) if width.is_narrow() else (formula,):
        st.latex(line)


def _numbers(answer: Answer, reader: Reader, words: ModuleType, language: Language) -> None:
    """Draw the numbers in a table for each thing that was measured, the model first."""
    question = answer.question
    for of, names in by_measured(question.numbers, answer.numbers).items():
        head = words.NUMBERS
        if of is not None:
            head = words.numbers_of(of.of(language))
        elif answer.measured_on is not None:
            head = words.numbers_of(available_models.name_in_frame(answer.measured_on))
        st.subheader(plain(head), anchor=False)
        rows = [
            (
                plain(question.numbers[name].name.of(language)),
                plain(shown(answer.numbers[name], question.numbers[name], language)),
                _published(question, name, words, language),
            )
            for name in names
        ]
        table = pd.DataFrame(rows, columns=list(words.HEADS))
        st.table((table if any(row[2] for row in rows) else table.iloc[:, :2]).set_index(words.HEADS[0]))


def _published(question: Question, name: str, words: ModuleType, language: Language) -> str:
    found = question.published.get(name)
    if found is None:
        return ""
    of = found.of.of(language)
    return plain(words.published(found.value, of, same=found.same, from_memory=found.from_memory))
