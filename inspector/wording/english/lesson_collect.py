"""Sentences and columns of `python -m inspector.lessons`."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.wording.english.practice_verdict import OWN_PROCESS as OWN_PROCESS

STUDENT, FILE, NUMBER = "student", "file", "number"
NO_ANSWER, NO_NAME = "–", "(no name)"
NO_FILE = "there is no file that can be read"
UNREADABLE = {
    "large": "it is larger than 256 KB, and no file of answers is",
    "no answers": "it is no file of answers that the page Lessons wrote",
    "another version": "another version of Headlight wrote it",
}
SOME_NOT_JUDGED = (
    "What is “not judged” is a practice file, which only --judge runs, on your machine, or a question whose verdict "
    "the lesson does not give, which --judge measures."
)


def question(number: int) -> str:
    """Name a question in a column's title."""
    return f"question {number}"


def practice(number: int) -> str:
    """Name a practice task in a column's title."""
    return f"practice {number}"


def column(at: int, kind: str) -> str:
    """Title the column of a step."""
    return f"{at} {kind}"


def total(of: int) -> str:
    """Title the column of totals."""
    return f"right of {of}"


def lines(count: int) -> str:
    """Tell a student's file by its length."""
    return f"{count} {'line' if count == 1 else 'lines'}"


def cell(right: bool | None, answer: str, by: str) -> str:
    """Tell an answer. by: what it was held to."""
    if right is None:
        return f"not judged: {answer}"
    return f"right: {answer}" if right else f"wrong: {answer}" + (f" ({by})" if by else "")


def heading(title: str, digest: str, files: int) -> str:
    """Head a table."""
    return f"{title} ({digest}): {files} {'file' if files == 1 else 'files'}"


def not_read(file: str, reason: str) -> str:
    """Say why a file is in no table."""
    return f"{file} was left out: {reason}."


def another_lesson(file: str, title: str, digest: str, known: Sequence[str]) -> str:
    """Say that a file answers another lesson than those that are known."""
    return (
        f"{file} was left out: its answers are to the lesson “{title}” ({digest}), and not to {' or '.join(known)}. "
        "Give that lesson's file with --lesson."
    )


def nothing(files: int) -> str:
    """Say that there is no table."""
    return f"None of {files} {'file' if files == 1 else 'files'} holds answers to a lesson that is known."


def several(titles: Sequence[str]) -> str:
    """Refuse one file of a table for several lessons."""
    return f"The files answer {len(titles)} lessons ({', '.join(titles)}): name one with --lesson to write its table."


def checked(title: str, steps: int, asking: int, digest: str) -> str:
    """Say that a lesson can be read."""
    return f"{title}: {steps} {'step' if steps == 1 else 'steps'}, {asking} to answer ({digest})"


def not_shipped(model: str) -> str:
    """Say that a model does not come along."""
    return f"{model} does not come with Headlight. A lesson loads no model, so students add it to the page first."


def too_long(most: int) -> str:
    """Say that a lesson fits no link."""
    return f"The lesson is too long for a link of {most:,} letters: hand out its file, which the page Lessons opens."
