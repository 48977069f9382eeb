"""All questions, by theme and by number."""

from __future__ import annotations

from inspector.questions.themes import scale

THEMES = (scale.THEME,)
QUESTIONS = tuple(
    sorted((question for theme in THEMES for question in theme.questions), key=lambda question: question.number)
)
BY_NUMBER = {question.number: question for question in QUESTIONS}
