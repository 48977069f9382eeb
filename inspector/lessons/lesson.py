"""A lesson as a record: steps in an order, each with the teacher's words, perhaps a place to look, perhaps a task.

```python
check = around("found", 0.41, within=0.01)
Step(words, place=Place("scores", {"layer": "1"}, "minilm", "The cat sat."), asks=Number(check, "of the weight"))
```
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from inspector.questions.record.both import Both
from inspector.questions.record.checks import NumberCheck
from inspector.questions.record.question import Verdict

FOUND = "found"
"""The name under which the check of a number knows what a student found."""
NOTHING = Both("", "")


@dataclass(frozen=True)
class Place:
    """A page to look at. page: its address, "" of Attention; link: names and values of its link.

    model, text: what is read there, "" for the student's own.
    """

    page: str
    link: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    text: str = ""


@dataclass(frozen=True)
class Guess:
    """A question, guessed before its verdict is seen.

    model, text: what the question is measured on. verdict: what the teacher expects; None where what is measured
    counts.
    """

    question: int
    model: str
    text: str
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Code:
    """A practice task, of which a student hands in the file."""

    task: int


@dataclass(frozen=True)
class Number:
    """A number to find. check: what it must be, under the name FOUND; unit: what stands behind the number."""

    check: NumberCheck
    unit: Both = NOTHING


Asked = Guess | Code | Number


@dataclass(frozen=True)
class Step:
    """A step of a lesson. words: the teacher's, read before; why: read after an answer.

    place: where the step leads, None for nowhere. asks: what a student answers, None where there is only to read.
    """

    words: Both
    place: Place | None = None
    asks: Asked | None = None
    why: Both = NOTHING


@dataclass(frozen=True)
class Lesson:
    """A lesson. feedback: whether a student sees at once what is right. source: the file that it was read from."""

    title: Both
    steps: tuple[Step, ...]
    about: Both = NOTHING
    feedback: bool = True
    source: str = field(default="", compare=False)

    @property
    def asking(self) -> dict[int, Step]:
        """The steps that ask something, by their number from 1."""
        return {at: step for at, step in enumerate(self.steps, 1) if step.asks is not None}

    @cached_property
    def digest(self) -> str:
        """Sixteen letters of a hash: of the title and of what is asked, in its order.

        Words may be put right while a class is at work: answers of before still belong to the lesson.
        """
        told = [[self.title.en, self.title.zh], *map(_told, self.steps)]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def _told(step: Step) -> list[Any]:
    match step.asks:
        case Guess(question, model, text, verdict):
            return ["question", question, model, text, verdict]
        case Code(task):
            return ["practice", task]
        case Number(check, _):
            return ["number", check.relation, check.bound, check.within]
    return ["read"]
