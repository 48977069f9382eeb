"""A verdict follows from its numbers: change a number that a check reads, and the verdict is another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.questions.asking import Answer
from inspector.questions.index import THEMES
from inspector.questions.record.question import Question, Theme, verdict


def of_theme(name: str) -> Theme:
    """Find a theme by its name."""
    return next(theme for theme in THEMES if theme.id == name)


def judged(question: Question, numbers: Mapping[str, float]) -> tuple[str, tuple[bool, ...]]:
    """The verdict, and on which parts it depends."""
    return verdict(question.parts, numbers, mixed=question.mixed), tuple(part.holds(numbers) for part in question.parts)


def corruptions(numbers: Mapping[str, float], name: str) -> Iterator[dict[str, float]]:
    """The sign turned, constants in place of the number, and two numbers in each other's place."""
    value = numbers[name]
    for wrong in (-value, 0.0, 1.0, 1e9, -1e9):
        yield {**numbers, name: wrong}
    for other in numbers:
        yield {**numbers, name: numbers[other], other: value}


def assert_corruption_changes_the_verdict(answer: Answer) -> None:
    """Every number that a check reads decides something: some corruption of it alone gives another verdict."""
    question, numbers = answer.question, answer.numbers
    read = {name for part in question.parts for check in part.checks for name in check.reads}
    assert read, f"question {question.number} has no check"
    assert read <= set(numbers)
    true = judged(question, numbers)
    for name in sorted(read):
        assert any(judged(question, wrong) != true for wrong in corruptions(numbers, name)), (
            f"question {question.number}: whatever {name} is, the verdict stays {true}"
        )
