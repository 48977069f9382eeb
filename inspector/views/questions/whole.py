"""The whole experiment of a question, which takes longer than its small measure: run when the reader asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

import pandas as pd
import streamlit as st

from inspector.questions.filled import shown
from inspector.questions.record.both import Language
from inspector.questions.record.checks import Numbers
from inspector.questions.record.question import ClaimPart, LongExperiment, Measurement, Question, verdict
from inspector.text import plain
from inspector.views.questions import badges
from inspector.views.shell import measuring
from inspector.views.shell.question_reader import Reader


def show(question: Question, whole: LongExperiment, reader: Reader, words: ModuleType, language: Language) -> None:
    """Draw what the experiment is, the button that runs it, and what it found; the stored result beside it."""
    st.subheader(words.WHOLE, anchor=False)
    st.markdown(plain(whole.about.of(language)))
    labels = measuring.Labels(
        start=words.RUN_WHOLE,
        again=words.RUN_AGAIN,
        stop=words.STOP,
        running=words.running,
        stopped=lambda done, total, kept: words.stopped(done, total),
        failed=words.UNMEASURED,
        work=f"Question {question.number}",
        instead="Ask it of another model or text.",
        queued=words.queued,
        icon=":material/science:",
    )

    def work(watch: measuring.Watch, keep: Callable[[Measurement], object]) -> Measurement:
        subject = reader.subject(question)
        return whole.run(subject if question.of is None else subject.within(question.of), watch)

    known = ("whole", question.number, reader.model, reader.text)
    here, before = st.columns(2, gap="medium") if whole.stored is not None else (st.container(), None)
    with here:
        found = measuring.run(work, known=known, key=f"whole {question.number}", about=words.NO_RUN_YET, labels=labels)
        if found is not None:
            _result(whole, found.numbers, words.LIVE, words, language)
    if before is not None and whole.stored is not None:
        with before:
            _result(whole, whole.stored.numbers, words.STORED, words, language)
            st.caption(plain(words.stored(whole.stored.command, whole.stored.seeds, whole.stored.date)))


def _result(whole: LongExperiment, numbers: Numbers, title: str, words: ModuleType, language: Language) -> None:
    judged = verdict(whole.parts, numbers)
    icon, colour = badges.LOOKS[judged]
    st.markdown(f"**{title}** :{colour}-badge[{icon} {words.ALWAYS[judged]}]")
    for part in whole.parts:
        _part(part, whole.numbers, numbers, words, language)
    rows = [
        (plain(quantity.name.of(language)), plain(shown(numbers[name], quantity, language)))
        for name, quantity in whole.numbers.items()
        if name in numbers
    ]
    st.table(pd.DataFrame(rows, columns=list(words.HEADS[:2])).set_index(words.HEADS[0]))


def _part(
    part: ClaimPart, quantities: Mapping[str, object], numbers: Numbers, words: ModuleType, language: Language
) -> None:
    held = part.holds(numbers)
    icon, colour = badges.LOOKS["true" if held else "false"]
    said = plain(words.quoted(part.statement.of(language)))
    st.markdown(f":{colour}-badge[{icon} {words.HELD if held else words.NOT_HELD}] {said}")
