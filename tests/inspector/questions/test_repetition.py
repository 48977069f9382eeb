"""Spaced repetition held to a calendar that a plain loop walks, day by day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from inspector.questions import repetition
from inspector.questions.repetition import Kept, marked

START = date(2026, 2, 20)  # over the end of February


def day(number: int) -> date:
    return START + timedelta(days=number)


def test_a_question_known_each_time_comes_back_after_3_7_16_35_and_35_days() -> None:
    kept, asked = None, []
    for number in range(120):
        if kept is None or repetition.due({7: kept}, day(number)):
            asked.append(number)
            kept = marked(kept, right=True, guess="true", today=day(number))
    assert asked == [0, 3, 10, 26, 61, 96]


def test_a_wrong_guess_leads_back_to_tomorrow() -> None:
    kept = marked(None, right=False, guess="true", today=START)
    assert (kept.box, kept.due) == (1, day(1))
    kept = marked(Kept("true", True, START, 5), right=False, guess="false", today=day(2))
    assert kept == Kept("false", False, day(2), 1)


def test_a_right_guess_before_the_day_changes_nothing_and_a_wrong_one_does() -> None:
    kept = marked(None, right=False, guess="true", today=START)
    assert marked(kept, right=True, guess="false", today=START) is kept
    assert marked(kept, right=True, guess="false", today=day(1)) == Kept("false", True, day(1), 2)
    kept = Kept("true", True, START, 4)
    assert marked(kept, right=True, guess="true", today=day(15)) is kept
    assert marked(kept, right=False, guess="true", today=day(15)).box == 1


def test_due_are_those_whose_day_has_come_the_longest_overdue_first() -> None:
    guesses = {
        1: Kept("true", True, START, 2),
        2: Kept("true", False, START, 1),
        3: Kept("true", True, START, 3),
        4: Kept("false", False, START, 1),
    }
    assert repetition.due(guesses, START) == []
    assert repetition.due(guesses, day(1)) == [2, 4]
    assert repetition.due(guesses, day(3)) == [2, 4, 1]
    assert repetition.due(guesses, day(7)) == [2, 4, 1, 3]
    assert repetition.next_due(guesses, START) == (day(1), 2)
    assert repetition.next_due(guesses, day(1)) == (day(3), 1)
    assert repetition.next_due(guesses, day(7)) is None
    assert repetition.next_due({}, START) is None


@pytest.mark.parametrize("swapped", [False, True])
def test_of_two_lists_the_later_guess_counts(swapped: bool) -> None:
    one = {1: Kept("true", True, START, 4), 2: Kept("true", True, day(5), 2), 3: Kept("true", True, START, 2)}
    other = {1: Kept("true", False, day(1), 1), 2: Kept("true", False, START, 1), 3: Kept("true", False, START, 1)}
    joined = repetition.merged(other, one) if swapped else repetition.merged(one, other)
    assert joined == {1: other[1], 2: one[2], 3: other[3]}
    assert repetition.merged(one, {9: other[1]}) == {**one, 9: other[1]}
