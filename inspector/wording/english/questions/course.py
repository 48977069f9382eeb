"""Sentences of levels, hints and guessed numbers; chinese/questions/course.py has the same names."""

from __future__ import annotations

from collections.abc import Sequence

LEVEL = "Level"
ALL_LEVELS = "All levels"
LEVELS = {1: "1: the parts", 2: "2: why, and at what cost", 3: "3: findings and pitfalls"}
KNOW_FIRST = "Know first:"
HINT = "Hint"
HINTS = {"formula": "The formula", "setting": "How it is measured", "because": "What lies behind it"}
GUESS_NUMBER = "Guess a number"
GUESS_VERDICT = "Guess the verdict"
TAKE = "That is my guess"


def level(level: int) -> str:
    """Name a question's level."""
    return f"Level {level}"


def in_list(level: int, first: Sequence[int]) -> str:
    """Say in a row of the list a question's level and what to know first."""
    return f"level {level}, after {', '.join(map(str, first))}" if first else f"level {level}"


def question(asked: str) -> str:
    """Ask for a number on the slider; asked: its name."""
    return f"Guess first, on your text: {asked}"


def points(guess: str, measured: str, points: int) -> str:
    """Say how near a guessed number came."""
    return f"You guessed {guess}; it is {measured}: {points} of 100 points."
