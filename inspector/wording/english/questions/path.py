"""Sentences of a teacher's path, plain text; inspector/wording/chinese/questions/path.py has the same names."""

from __future__ import annotations

MAKE = "Make a path"
ABOUT = (
    "Choose questions in the order in which your readers are to see them, and write to them before each. All of it is "
    "in the link."
)
CHOOSE = "Questions, in order"
OPEN = "Try the path"
LINK = "The link to copy:"
START = "Start"
LEAVE = "Leave the path"
PREVIOUS = "Previous step"
NEXT = "Next step"


def step(at: int, of: int) -> str:
    """Say where on the path the reader is."""
    return f"Step {at} of {of}"


def whole(steps: int) -> str:
    """Name a path at whose first step the reader is not yet."""
    return f"A path of {steps} {'question' if steps == 1 else 'questions'}"


def words_before(number: int) -> str:
    """Label the field for the words before a question."""
    return f"Your words before question {number}"


def room(left: int) -> str:
    """Say how much more fits the link."""
    if left < 0:
        return f"The words are {-left:,} letters too long for a link: shorten them."
    return f"Room for {left:,} more letters (a Chinese character takes three)."
