"""All questions, by theme and by number: their words are files, and what measures them is imported when it is asked."""

from __future__ import annotations

import tomllib
from functools import partial
from importlib import import_module
from pathlib import Path

from inspector.questions.record.both import Both
from inspector.questions.record.question import Measurement, Theme, Watch
from inspector.questions.record.subject import Subject
from inspector.questions.record.words import read

_WORDS = Path(__file__).parents[1] / "wording" / "questions"  # a folder a theme, a file a question
_MEASURING = f"{__name__.rpartition('.')[0]}.themes"  # a module a theme


def _measure(theme: str, number: int, subject: Subject) -> Measurement:
    measured: Measurement = import_module(f"{_MEASURING}.{theme}").MEASURES[number](subject)
    return measured


def _run(theme: str, number: int, subject: Subject, watch: Watch) -> Measurement:
    measured: Measurement = import_module(f"{_MEASURING}.{theme}").RUNS[number](subject, watch)
    return measured


def _theme(name: str, words: dict[str, str]) -> Theme:
    paths = sorted((_WORDS / name).glob("*.toml"), key=lambda path: int(path.stem))
    return Theme(
        name,
        Both(**words),
        tuple(
            read(path, measure=partial(_measure, name, int(path.stem)), run=partial(_run, name, int(path.stem)))
            for path in paths
        ),
    )


THEMES = tuple(
    _theme(name, words) for name, words in tomllib.loads((_WORDS / "themes.toml").read_text(encoding="utf-8")).items()
)
QUESTIONS = tuple(
    sorted((question for theme in THEMES for question in theme.questions), key=lambda question: question.number)
)
BY_NUMBER = {question.number: question for question in QUESTIONS}
MERGED = {15: 1, 17: 16, 20: 19, 22: 21, 36: 34, 46: 45, 52: 51, 112: 83, 137: 143}
"""Numbers of questions that went into another: links to them lead on, and no other question takes them."""
FIRST = (3, 114, 74, 5, 93)
"""The questions for those who are new, in order: whom a token looks at, what heads do, order, importance, cost."""
