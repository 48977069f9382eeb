"""Judges a student's answer by the lesson: a guess by a verdict, a number by its tolerance.

```python
judge(Number(around("found", 0.41, within=0.01)), 0.415)  # Judged(right=True, by="0.41 ± 0.01")
judge(Guess(16, "minilm", text), "true", verdict="conditions")  # Judged(right=False, by="conditions")
```
"""

from __future__ import annotations

from dataclasses import dataclass

from inspector.lessons.lesson import FOUND, Asked, Code, Guess, Number
from inspector.questions.record.checks import NumberCheck
from inspector.questions.record.question import Verdict

Answer = str | float
"""A guess or a file of Python as a text, or a number that was found."""
GUESSES = ("true", "false", "between")
BETWEEN: tuple[Verdict, ...] = ("partly", "conditions")
"""Verdicts that the guess "between" means."""

_ROUNDING = 1e-9  # of a difference


@dataclass(frozen=True)
class Judged:
    """An answer judged. right: None where nothing judged it. by: what it was held to, "" for nothing."""

    right: bool | None
    by: str = ""


def judge(asked: Asked | None, answer: Answer | None, *, verdict: Verdict | None = None) -> Judged:
    """Judge an answer, None where none was given. verdict: what was measured, for a guess without a teacher's verdict.

    A file of Python is not judged here: `inspector.practice.check` runs it. An answer of another kind than was asked
    for is wrong.
    """
    if answer is None:
        return Judged(None)
    match asked:
        case Guess():
            verdict = asked.verdict or verdict
            if not isinstance(answer, str) or answer not in GUESSES:
                return Judged(False)
            return Judged(None) if verdict is None else Judged(guess_of(verdict) == answer, verdict)
        case Number(check, _):
            return Judged(isinstance(answer, float) and _holds(check, answer), check.needs)
        case Code():
            return Judged(None if isinstance(answer, str) else False)
    return Judged(None)


def guess_of(verdict: Verdict) -> str:
    """Return the guess that a verdict makes right."""
    return "between" if verdict in BETWEEN else verdict


def _holds(check: NumberCheck, answer: float) -> bool:
    """Hold a number to its check; 0.42 is within 0.01 of 0.41, though their floats lie 1e-17 farther apart."""
    return check.holds({FOUND: answer - (answer - float(check.bound)) * _ROUNDING})
