"""A student's answers as a text: what the browser keeps, what is handed in. Read back, it is a stranger's.

```python
text = written(Answers(lesson.digest, "An evening", "Li", {2: "true", 4: 0.41}), {})
read(text).answers.given  # {2: "true", 4: 0.41}
```

`{"version": 1, "lesson": "0f…", "title": "An evening", "student": "Li", "answers": {"2": {"answer": "true"}}}`

Beside an answer the file says whether it was right, and by what, for whoever opens it; that is never read back.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector.lessons.judging import Answer, Judged
from inspector.lessons.reading import MOST_STEPS, MOST_TITLE
from inspector.questions.path import plain

VERSION = 1
MOST_BYTES = 256 * 1024
MOST_CODE = 20_000  # characters of a file of Python
MOST_STUDENT = 80  # characters of a name

Why = Literal["large", "no answers", "another version"]


class UnreadableError(ValueError):
    """A text is no file of answers; `why` says in a word what is wrong, for a sentence in the reader's language."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class Answers:
    """A student's answers. lesson: the digest of the lesson; title: its title; given: the answers by their step."""

    lesson: str
    title: str
    student: str = ""
    given: Mapping[int, Answer] = field(default_factory=dict)


@dataclass(frozen=True)
class Read:
    """Answers that were read, and how many entries were left out because they are none."""

    answers: Answers
    left_out: int


def written(answers: Answers, judged: Mapping[int, Judged]) -> str:
    """Write answers as a text. judged: what was said of them, which the file tells beside each."""
    entries: dict[str, dict[str, Any]] = {}
    for at, answer in sorted(answers.given.items()):
        entries[str(at)] = {"answer": answer}
        if at in judged and judged[at].right is not None:
            entries[str(at)] |= {"right": judged[at].right, "by": judged[at].by}
    told = {"version": VERSION, "lesson": answers.lesson, "title": answers.title, "student": answers.student}
    return json.dumps(told | {"answers": entries}, ensure_ascii=False, indent=1)


def read(text: str) -> Read:
    """Read answers from a stranger's text; raises UnreadableError for a text that is no file of answers.

    Only known fields are taken. An entry that is no answer is left out and counted.
    """
    if len(text) > MOST_BYTES or len(text.encode(errors="replace")) > MOST_BYTES:
        raise UnreadableError("large")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError("no answers") from error
    match found:
        case {"version": int(version), "answers": dict()} if not isinstance(version, bool) and version != VERSION:
            raise UnreadableError("another version")
        case {
            "version": int(version),
            "lesson": str(lesson),
            "title": str(title),
            "student": str(student),
            "answers": dict(entries),
        } if not isinstance(version, bool) and re.fullmatch(r"[0-9a-f]{16}", lesson):
            pass
        case _:
            raise UnreadableError("no answers")
    given, left_out = {}, 0
    for key, entry in entries.items():
        answer = entry.get("answer") if isinstance(entry, dict) else None
        at = int(key) if re.fullmatch(r"[1-9][0-9]?", key) else 0
        if at > MOST_STEPS or not at or (checked := _answer(answer)) is None:
            left_out += 1
        else:
            given[at] = checked
    return Read(Answers(lesson, _line(title, MOST_TITLE), _line(student, MOST_STUDENT), given), left_out)


def number(typed: str) -> float | None:
    """Read a number as a student types it, such as "0.41", "−3" or "4.1e-3"; None for what is none."""
    typed = typed.strip().replace("−", "-")
    if not re.fullmatch(r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?", typed):
        return None
    value = float(typed)
    return value if math.isfinite(value) else None


def _answer(answer: object) -> Answer | None:
    if isinstance(answer, bool):
        return None
    if isinstance(answer, int | float):
        return float(answer) if abs(answer) <= 1e300 else None
    if isinstance(answer, str) and len(answer) <= MOST_CODE:
        return answer.encode(errors="replace").decode()  # without half letters, which no file can hold
    return None


def _line(text: str, most: int) -> str:
    return " ".join(plain(text[:most]).split())
