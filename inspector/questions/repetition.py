"""Spaced repetition: a question comes back after 1, 3, 7, 16 and 35 days, as in Leitner's boxes.

```python
kept = marked(None, right=True, guess="true", today=date(2026, 1, 1))  # box 2
kept.due  # date(2026, 1, 4)
```

The rule: every question begins in box 1. A right guess lifts it by a box, a wrong one brings it back to box 1, and in
box k it is due DAYS[k - 1] days after the guess. A right guess before that day changes nothing, for what was read a
minute ago is no sign of memory. In the last box a question stays.

S. Leitner, So lernt man lernen, Herder 1972: cards in boxes, a wrong answer leads back to the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, get_args

DAYS = (1, 3, 7, 16, 35)
Guess = Literal["true", "false", "between", "number", "words"]
GUESSES: tuple[Guess, ...] = get_args(Guess)


@dataclass(frozen=True)
class Kept:
    """The last guess of a question that counted: whether it was right, its day, and the box, from 1."""

    guess: Guess
    right: bool
    on: date
    box: int

    @property
    def due(self) -> date:
        """The day from which the question is asked again."""
        return self.on + timedelta(days=DAYS[self.box - 1])


Guesses = Mapping[int, Kept]
"""Guesses that are kept, by the number of the question."""


def marked(before: Kept | None, *, right: bool, guess: Guess, today: date) -> Kept:
    """Return what is kept of a question after a guess. before: what was kept of it, None for nothing."""
    if right and before is not None and today < before.due:
        return before
    box = 1 if before is None else before.box
    return Kept(guess, right, today, min(box + 1, len(DAYS)) if right else 1)


def due(guesses: Guesses, today: date) -> list[int]:
    """Return the numbers of the questions that are due, the longest overdue first."""
    return sorted((number for number, kept in guesses.items() if kept.due <= today), key=lambda n: (guesses[n].due, n))


def next_due(guesses: Guesses, today: date) -> tuple[date, int] | None:
    """Return the next day after today on which questions are due, and how many; None where there is none."""
    days = [kept.due for kept in guesses.values() if kept.due > today]
    return (min(days), days.count(min(days))) if days else None


def merged(one: Guesses, other: Guesses) -> dict[int, Kept]:
    """Join two lists of guesses: of a question in both the later guess counts, of one day that in the lower box."""
    joined = dict(one)
    for number, kept in other.items():
        known = joined.get(number)
        if known is None or (kept.on, -kept.box) > (known.on, -known.box):
            joined[number] = kept
    return joined
