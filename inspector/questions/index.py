"""All questions, by theme and by number."""

from __future__ import annotations

from dataclasses import replace

from inspector.questions.themes import (
    architecture,
    basics,
    batch_norm,
    bert,
    costs,
    found_in_heads,
    found_in_streams,
    found_in_words,
    in_parallel,
    large_models,
    layer_norm,
    learning,
    masks,
    positions,
    projections,
    scale,
    score_functions,
    serving,
    several_heads,
)

_THEMES = (
    basics.THEME,
    scale.THEME,
    projections.THEME,
    score_functions.THEME,
    several_heads.THEME,
    layer_norm.THEME,
    batch_norm.THEME,
    masks.THEME,
    positions.THEME,
    architecture.THEME,
    costs.THEME,
    in_parallel.THEME,
    bert.THEME,
    learning.THEME,
    found_in_heads.THEME,
    found_in_streams.THEME,
    found_in_words.THEME,
    serving.THEME,
    large_models.THEME,
)
THEMES = tuple(
    replace(theme, questions=tuple(sorted(theme.questions, key=lambda question: question.number))) for theme in _THEMES
)
QUESTIONS = tuple(
    sorted((question for theme in THEMES for question in theme.questions), key=lambda question: question.number)
)
BY_NUMBER = {question.number: question for question in QUESTIONS}
MERGED = {15: 1, 17: 16, 20: 19, 22: 21, 36: 34, 46: 45, 52: 51, 112: 83, 137: 143}
"""Numbers of questions that went into another: links to them lead on, and no other question takes them."""
FIRST = (3, 114, 74, 5, 93)
"""The questions for those who are new, in order: whom a token looks at, what heads do, order, importance, cost."""
