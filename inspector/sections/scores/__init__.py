"""The page Scores: q . k of every head before the softmax, what the scale makes of it, and what the softmax does."""

from inspector.sections.registry import Sections
from inspector.sections.scores import angles, every, functions, gradients, importance, keys, one, theory, weightings
from inspector.wording import scores as words

PAGE = Sections(
    words.ASKS,
    (
        every.SECTION,
        one.SECTION,
        keys.SECTION,
        angles.SECTION,
        theory.SECTION,
        gradients.SECTION,
        importance.SECTION,
        functions.SECTION,
        weightings.SECTION,
    ),
)
