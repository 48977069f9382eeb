"""Every question is asked of MiniLM on the example that the page opens with, once in a worker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import models
from inspector import examples
from inspector.questions import asking
from inspector.questions.record.subject import Subject

Ask = Callable[[int], asking.Answer]


@pytest.fixture(scope="session")
def answer() -> Ask:
    subject = Subject(models.load("minilm"), examples.FIRST)
    answers: dict[int, asking.Answer] = {}

    def ask(number: int) -> asking.Answer:
        if number not in answers:
            answers[number] = asking.ask(asking.find(number), subject)
            assert not answers[number].problem, answers[number].problem
        return answers[number]

    return ask
