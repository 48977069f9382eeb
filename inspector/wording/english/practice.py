"""Sentences of the page Practice; inspector/wording/chinese/practice.py has the same names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.practice.record.task import Level  # the page's shell needs no exercises

LEVELS: dict[Level, str] = {
    "first steps": "First steps",
    "inside a layer": "Inside a layer",
    "writing": "Tokens and writing",
    "beyond": "Beyond",
}
ABOUT = (
    "Your file runs on your own machine, in a process of its own; this page runs no code of yours. That process guards "
    "against accidents and not against malice: run only what you trust. A mistake is named."
)
TO_WRITE = "To write"
DOWNLOAD = "Download mine.py"
DOWNLOAD_HINT = "The lines above, as a file to go on with"
HELD_BY = "Then run it in the folder of Headlight:"
HINT_KINDS = ("The formula", "A smaller case", "The usual cause")
ALL_HINTS = "All hints are shown."
SOLUTION = "Show the solution"
HIDE = "Hide the solution"
HIDE_MISTAKES = "Hide the mistakes"
BY_HAND = "A small case to check by hand"
GIVEN = "Given"
DUE = "Due"
WORD, COUNT = "word", "count"
NUMBERS = "A row of a table is a row of the array; arrays of more than two axes are shown part by part."


def heading(number: int, title: str) -> str:
    """Head a task."""
    return f"{number} · {title}"


def next_hint(number: int) -> str:
    """Label the button of a hint."""
    return f"Show hint {number} of 3"


def hint(kind: str, text: str) -> str:
    """Set a hint under its kind; text: Markdown."""
    return f"**{kind}.** {text}"


def mistakes(count: int) -> str:
    """Label the button of the mistakes that a task knows by name; count: how many."""
    return f"Show the {count} mistakes that are known by name"


def part(name: str, place: str) -> str:
    """Name an array, or a part of one."""
    return f"{name} {place}".strip()
