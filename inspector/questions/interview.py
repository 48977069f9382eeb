"""A mock interview: ten questions of a level, drawn by a seed that stands in the link.

```python
interview = decode("2.48213")  # Interview(level=2, seed=48213)
drawn(interview, course.STEPS)  # ten numbers, the same for everybody who has the link
```
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from inspector.questions.course import Step

COUNT = 10
SECONDS = 120  # for each question
MOST_SEED = 999_999
MOST_WORDS = 4_000  # characters of an answer
PASS = 2 / 3  # share of the points from which an answer counts as right
PATTERN = r"[0-3]\.[0-9]{1,6}"
"""An interview in a link: the level and the seed."""


@dataclass(frozen=True)
class Interview:
    """An interview. level: 1 to 3, or 0 for questions of all levels. seed: 0 to MOST_SEED."""

    level: int
    seed: int


def encode(interview: Interview) -> str:
    """Write an interview for a link."""
    return f"{interview.level}.{interview.seed}"


def decode(text: str) -> Interview | None:
    """Read an interview from a link; None for what is none."""
    if not re.fullmatch(PATTERN, text):
        return None
    level, seed = map(int, text.split("."))
    return Interview(level, seed)


def drawn(interview: Interview, steps: Mapping[int, Step]) -> tuple[int, ...]:
    """Draw the questions: those of the level in an order that the seed shuffles, the first COUNT of them.

    Each number has a place of its own in that order, so that a question which joins the registry changes at most one.
    """
    asked = [number for number, step in steps.items() if interview.level in (0, step.level)]

    def at(number: int) -> bytes:
        return hashlib.sha256(f"{interview.seed}.{number}".encode()).digest()

    return tuple(sorted(asked, key=at)[:COUNT])


def passes(named: int, of: int) -> bool:
    """Return True if an answer named enough of the points that a good answer names."""
    return of > 0 and named >= PASS * of
