"""The course: it has every question once, what comes first exists and is no higher, and nothing leads in a circle."""

from __future__ import annotations

from graphlib import TopologicalSorter

import pytest

from inspector.questions import course
from inspector.questions.course import STEPS
from inspector.questions.index import BY_NUMBER, FIRST, MERGED
from inspector.questions.interview import COUNT
from tests.inspector.questions.conftest import Ask

GUESSED = [number for number, step in STEPS.items() if step.number]


def test_every_question_has_a_step_and_no_step_is_left_over() -> None:
    assert sorted(BY_NUMBER.keys() - STEPS.keys()) == [], "add a line for each to inspector/questions/course.py"
    assert sorted(STEPS.keys() - BY_NUMBER.keys()) == [], "take these out of inspector/questions/course.py"


@pytest.mark.parametrize("number", STEPS)
def test_what_comes_first_is_there_and_no_higher(number: int) -> None:
    step = course.of(number)
    assert step.level in course.LEVELS
    assert set(step.first) <= BY_NUMBER.keys() - {number}
    assert all(STEPS[before].level <= step.level for before in step.first)


def test_nothing_comes_before_itself() -> None:
    TopologicalSorter({number: course.of(number).first for number in STEPS}).prepare()  # CycleError in a circle


def test_numbers_of_merged_questions_lead_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for gone, into in MERGED.items():
        assert course.of(gone) == course.of(into)
    monkeypatch.setitem(course.STEPS, 5, course.Step(1, (17, 16)))  # type: ignore[arg-type]
    assert course.of(5).first == (16,)


def test_beginners_questions_are_of_the_first_level_and_each_level_fills_an_interview() -> None:
    assert {course.of(number).level for number in FIRST} == {1}
    assert all(sum(step.level == level for step in STEPS.values()) >= COUNT for level in course.LEVELS)


def test_a_number_can_be_guessed_of_forty_questions_and_is_one_that_they_measure() -> None:
    assert len(GUESSED) >= 40
    for number in GUESSED:
        question, step = BY_NUMBER[number], STEPS[number]
        assert question.measure is not None
        assert step.number in question.numbers, number
        assert step.low < step.high


@pytest.mark.heavy
@pytest.mark.parametrize("number", GUESSED)
def test_what_is_measured_lies_on_the_slider(number: int, answer: Ask) -> None:
    step = course.of(number)
    assert step.low <= answer(number).numbers[step.number] <= step.high
