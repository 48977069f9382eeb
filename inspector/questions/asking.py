"""Ask a question of a model and a text: measure, judge each part, and give the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import Numbers
from inspector.questions.record.picture import Picture
from inspector.questions.record.question import Question, Verdict, Watch, verdict
from inspector.questions.record.subject import Subject
from models import failures


@dataclass(frozen=True)
class Answer:
    """The numbers of a question's measure on a model and a text, and the verdict that follows from it.

    verdict: None where nothing could be measured; `problem` says why. asked_of: the id of the reader's model.
    measured_on: the id of the model that was measured, a stand-in where the reader's cannot be asked; None where no
    loaded model takes part. text: the text that the measured model read. held: for each part, whether it holds.
    """

    question: Question
    asked_of: str
    verdict: Verdict | None
    numbers: Numbers
    held: tuple[bool, ...] = ()
    picture: Picture | None = None
    measured_on: str | None = None
    text: str = ""
    problem: Both | None = None

    @property
    def stands_in(self) -> bool:
        """True if the reader's model cannot be asked, and another model was measured in its place."""
        return self.measured_on not in (None, self.asked_of)


def ask(question: Question, subject: Subject) -> Answer:
    """Measure a question on a subject, or on the stand-in where the subject's model cannot be asked.

    The answer's `problem` is a sentence on what failed.
    """
    asked_of = subject.loaded.card.id
    if question.measure is None:
        stated = question.stated.verdict if question.stated is not None else None
        return Answer(question, asked_of, stated, {})
    measured_on, text = None, ""
    try:
        with failures.told(f"Question {question.number}", instead="Ask it of another model or text."):
            if question.of is not None:
                subject = subject.within(question.of)
                measured_on, text = subject.loaded.card.id, subject.text
            try:
                measurement = question.measure(subject)
            except UnanswerableError as error:
                return Answer(question, asked_of, None, {}, measured_on=measured_on, text=text, problem=error.why)
            held = tuple(part.holds(measurement.numbers) for part in question.parts)
    except ValueError as error:
        problem = _sentence(str(error), subject)
        return Answer(question, asked_of, None, {}, measured_on=measured_on, text=text, problem=problem)
    judged = verdict(question.parts, measurement.numbers, mixed=question.mixed)
    return Answer(question, asked_of, judged, measurement.numbers, held, measurement.picture, measured_on, text)


def _sentence(reason: str, subject: Subject) -> Both:
    """Make a sentence from a reason that starts with a small letter and has no full stop.

    The instrument gives reasons in English alone; the Chinese text says so.
    """
    first = reason[:1] if reason.startswith(subject.loaded.card.id) else reason[:1].upper()
    english = f"{first}{reason[1:]}" + ("" if reason.endswith((".", "!", "?", "。")) else ".")
    return Both(english, f"原因（英文原文）：{english}")


def ask_all(subject: Subject, *, only: Sequence[int] = (), watch: Watch = lambda done, total: None) -> Iterator[Answer]:
    """Ask all questions, or `only` some, one after the other.

    Raises ValueError for a number that no question has.
    """
    from inspector.questions.index import QUESTIONS

    asked = [find(number) for number in only] or QUESTIONS
    for done, question in enumerate(asked):
        watch(done, len(asked))
        yield ask(question, subject)
    watch(len(asked), len(asked))


def find(number: int) -> Question:
    """Find a question, or the one that it went into; ValueError for a number that none has."""
    from inspector.questions.index import BY_NUMBER, MERGED  # reads a file a question: a page is drawn before

    number = MERGED.get(number, number)
    if number not in BY_NUMBER:
        raise ValueError(f"there is no question {number}; they go from 1 to {max(BY_NUMBER)}")
    return BY_NUMBER[number]
