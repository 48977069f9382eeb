"""A mock interview: the link draws the same questions for everybody, of its level, each as often as another."""

from __future__ import annotations

from collections import Counter

import pytest

from inspector.questions import course, interview
from inspector.questions.course import STEPS, Step
from inspector.questions.interview import COUNT, Interview, drawn


@pytest.mark.parametrize("level", [0, *course.LEVELS])
def test_ten_different_questions_of_the_level(level: int) -> None:
    for seed in (0, 1, 48_213, interview.MOST_SEED):
        numbers = drawn(Interview(level, seed), STEPS)
        assert len(set(numbers)) == len(numbers) == COUNT
        assert all(level in (0, STEPS[number].level) for number in numbers)
        assert numbers == drawn(Interview(level, seed), dict(reversed(STEPS.items())))


def test_another_seed_draws_others_and_every_question_is_drawn_alike() -> None:
    times = Counter(number for seed in range(2_000) for number in drawn(Interview(0, seed), STEPS))
    mean = 2_000 * COUNT / len(STEPS)
    assert times.keys() == STEPS.keys()
    assert all(abs(count - mean) < 6 * mean**0.5 for count in times.values())


def test_a_new_question_changes_at_most_one() -> None:
    for seed in range(200):
        before, after = drawn(Interview(2, seed), STEPS), drawn(Interview(2, seed), {**STEPS, 999: Step(2)})
        assert len(set(before) - set(after)) <= 1
        assert [number for number in after if number in before] == [number for number in before if number in after]


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("seed", [0, 7, 999_999])
def test_a_link_there_and_back(level: int, seed: int) -> None:
    assert interview.decode(interview.encode(Interview(level, seed))) == Interview(level, seed)


@pytest.mark.parametrize("text", ["", "4.1", "1", "1.", "1.1000000", "1.-5", " 1.5", "1.5\n", "１.5", "1.5.6"])
def test_what_is_no_interview_is_none(text: str) -> None:
    assert interview.decode(text) is None


def test_an_answer_counts_from_two_thirds_of_its_points_on() -> None:
    assert [interview.passes(named, 3) for named in range(4)] == [False, False, True, True]
    assert [interview.passes(named, 4) for named in (2, 3)] == [False, True]
    assert not interview.passes(0, 0)
