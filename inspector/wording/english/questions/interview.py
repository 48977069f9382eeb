"""Sentences of the mock interview; chinese/questions/interview.py has the same names."""

from __future__ import annotations

INTERVIEW = "Mock interview"
ABOUT = (
    "Ten questions, two minutes each: answer in your own words, then see the page's answer beside yours and tick the "
    "points that you named. The link draws the same ten for everybody."
)
LEVEL = "Level"
MIXED = "Mixed"
START = "Start"
LEAVE = "Leave the interview"
YOURS = "Your answer"
NOTHING_SAID = "You wrote nothing."
SHOW = "Show the answer"
SKIP = "Skip"
PAUSE = "Pause"
GO_ON = "Go on"
TIME_LEFT = "Time left"
PAUSED = "Paused"
MINUTE_LEFT = "One minute left."
SECONDS_LEFT = "Fifteen seconds left."
TIME_UP = "Time is up. Finish your sentence: nothing is lost."
NAMED = "What a good answer names. Tick what you said:"
NOT_SO = "Not so:"
BUT = "But:"
WHY = "Why:"
NEXT = "Next question"
RESULT = "See the result"
REPEAT = "To repeat"
KNOWN = "Known"
REPEAT_NONE = "Nothing is to be repeated: you named two thirds of the points or more each time."
AGAIN = "Another interview"
SKIPPED = "skipped"


def step(at: int, of: int) -> str:
    """Say which question of the interview is asked."""
    return f"Question {at} of {of}"


def answer_to(asked: str) -> str:
    """Label the field for the reader's own words."""
    return f"Your answer to: {asked}"


def because(heading: str, said: str) -> str:
    """Put a point under its heading in one line."""
    return f"{heading}: {said}"


def result(named: int, points: int, passed: int, of: int) -> str:
    """Say how the interview went."""
    return f"{passed} of {of} answers named two thirds of the points or more; {named} of {points} points in all."


def named(named: int, points: int) -> str:
    """Say how many points an answer named."""
    return f"{named} of {points} points"


def back(questions: int) -> str:
    """Say when the questions to repeat come back."""
    return f"{'It comes' if questions == 1 else 'They come'} back tomorrow under “Due today”."
