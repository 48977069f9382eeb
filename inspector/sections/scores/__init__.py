"""The page Scores: q . k before the softmax, what the scale makes of it, and what a reader asks further."""

from inspector.sections.registry import Group, Sections
from inspector.sections.scores import (
    angles,
    every,
    functions,
    gradients,
    importance,
    keys,
    one,
    scissors,
    theory,
    two_texts,
    weightings,
    wrote,
)
from inspector.wording import scores as words

PAGE = Sections(
    words.ASKS,
    (
        one.SECTION,
        every.SECTION,
        wrote.SECTION,
        Group(
            "scores_further",
            words.FURTHER,
            (
                theory.SECTION,
                gradients.SECTION,
                keys.SECTION,
                angles.SECTION,
                functions.SECTION,
                weightings.SECTION,
            ),
        ),
    ),
    elsewhere=(importance.SECTION, two_texts.SECTION, scissors.SECTION),
)
