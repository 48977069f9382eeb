"""A question says truly what can change its numbers: nothing, another model, or another text too."""

from __future__ import annotations

import pytest

import models
from inspector.questions.index import QUESTIONS
from inspector.questions.record.question import Question
from inspector.questions.record.subject import Subject

FIRST = "The cat sat on the mat because it was tired."
SECOND = "Every morning the old baker opens his shop, and counts the coins of yesterday behind the glass."
CHINESE = "我爱水课，因为水课让我有时间睡觉。"


def numbers(question: Question, model: str, text: str) -> dict[str, str]:
    """Every digit of what is measured."""
    assert question.measure is not None
    measured = question.measure(Subject(models.load(model), text)).numbers
    return {name: float(value).hex() for name, value in measured.items()}


def of(scope: str) -> pytest.MarkDecorator:
    """Take the questions of a scope."""
    of_scope = [question for question in QUESTIONS if question.measure is not None and question.scope == scope]
    assert of_scope
    return pytest.mark.parametrize("question", of_scope, ids=lambda question: str(question.number))


@pytest.mark.heavy
@of("algebra")
def test_neither_text_nor_model_changes_the_numbers(question: Question) -> None:
    assert numbers(question, "mini-gpt", FIRST) == numbers(question, "mini-bert", CHINESE)


@pytest.mark.heavy
@of("model")
def test_another_text_does_not_change_the_numbers(question: Question) -> None:
    assert question.of is not None
    model = question.of.instead[0]
    assert numbers(question, model, FIRST) == numbers(question, model, SECOND)


def test_the_scopes_are_told_apart() -> None:
    for number, scope in ((19, "algebra"), (44, "model"), (1, "text")):
        (question,) = [each for each in QUESTIONS if each.number == number]
        assert question.scope == scope
