"""Sentences about a lesson's file, a link to one, and files of answers; those of the command in English alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspector.text import visible
from models.formatting import format_bytes, shortened

A_TABLE = "a step begins with [[steps]] and has fields below it"
A_NUMBER = 'a number such as 0.41, without quotation marks; "nan" and "inf" are none'
TOLERANCE = 'a number from 0 on in the unit of what is expected, such as 0.01, or a share such as "2 %"'
NO_SHARE_OF_ZERO = "no share, for a share of 0 is 0: give a number, such as 0.01"
PARAMETER = "names of the page's link, such as layer or section; model and text are fields of the step itself"
VALUE = "a text, a whole number, true or false, of 200 characters at most"
IN_BOTH = 'a text, or one for each language: { en = "...", zh = "..." }'
KINDS: Mapping[type, str] = {
    str: "a text in quotation marks",
    bool: "true or false",
    list: "a list of tables, each of which begins with [[steps]]",
    dict: "a table, such as { layer = 1, head = 7 }",
}
KNOWN = {
    False: ("title", "about", "model", "text", "feedback", "steps"),
    True: (
        *("words", "why", "page", "link", "model", "text"),
        *("question", "verdict", "practice", "expected", "tolerance", "unit"),
    ),
}
"""The fields of a lesson, and those of a step."""
NO_LINK = "The link holds no lesson: it was cut or changed on its way. Ask for the lesson's file, and open that."


def step(at: int) -> str:
    """Name a step before a sentence about it."""
    return f"Step {at}: "


def no_file(name: str, shipped: Sequence[str]) -> str:
    """Refuse a name that is neither a file nor a lesson that comes along."""
    return f"There is no file {_quoted(name)}; the lessons that come along are {', '.join(shipped)}."


def too_large(most: int) -> str:
    """Refuse a file that is too large."""
    return f"The lesson is larger than {format_bytes(most)}, which is the most. Make two lessons of it."


def no_toml(reason: str) -> str:
    """Refuse what is no TOML."""
    said = f": {_told(reason)}" if reason else ": tables stand in one another too deeply"
    return f"The lesson is no TOML{said}. docs/lessons.md has a file to begin with."


def steps(count: int, most: int) -> str:
    """Refuse a lesson of no step, or of too many."""
    return f"The lesson has {count} steps; it must have 1 to {most}, each beginning with [[steps]]."


def unknown(where: str, name: str, known: Sequence[str]) -> str:
    """Refuse a field that is not known."""
    return f"{where}There is no field {_quoted(name)}; the fields are {', '.join(known)}."


def missing(where: str, name: str) -> str:
    """Ask for a field."""
    return f"{where}The field {name} is missing."


def several(where: str, names: Sequence[str]) -> str:
    """Refuse a step that asks for two things."""
    return f"{where}It has {' and '.join(names)}; a step asks for one thing, so make two steps of it."


def field(where: str, name: str, value: object, *, needs: str) -> str:
    """Refuse a value. needs: what it must be."""
    return f"{where}{_told(name)} is {_quoted(value)}; it must be {needs}."


def one_of(options: Sequence[object] | str) -> str:
    """Name the values that a field may have."""
    return options if isinstance(options, str) else f"one of {', '.join(map(str, options))}"


def questions(last: int) -> str:
    """Name the numbers that questions have."""
    return f"the number of a question, from 1 to {last}; `python -m inspector.questions --list` lists them"


def parameters(where: str, count: int, most: int) -> str:
    """Refuse too many parameters of a link."""
    return f"{where}link has {count} entries; it may have {most}."


def too_long(where: str, name: str, count: int, most: int) -> str:
    """Refuse a text that is too long."""
    return f"{where}{name} has {count:,} characters; it may have {most:,}. Shorten it, or make two steps of it."


def _quoted(value: object) -> str:
    return f"“{_told(value)}”"


def _told(value: object) -> str:
    """Write a stranger's value, the beginning of it, without what is not seen."""
    if isinstance(value, int) and abs(value) > 10**30:  # Python writes no whole number of thousands of digits
        return "a number of more than 30 digits"
    try:
        return visible(shortened(str(value), 80))
    except (ValueError, RecursionError):  # a number of thousands of digits within a list
        return "a value that is too large to be shown"
