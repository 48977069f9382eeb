"""Guesses as a text: what the browser keeps under one key, and what Export writes. Read back, it is a stranger's.

```python
text = written({16: Kept("true", right=False, on=date(2026, 1, 1), box=1)})
read(text, known={16}, today=date(2026, 1, 2))  # Read(guesses={16: Kept(...)}, left_out=0)
```

`{"version": 1, "guesses": {"16": {"guess": "true", "right": false, "on": "2026-01-01", "box": 1}}}`
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Literal

from inspector.questions.repetition import DAYS, GUESSES, Guesses, Kept, merged

KEY = "headlight.guesses"
VERSION = 1
MOST_BYTES = 64 * 1024
_FIRST_DAY = date(2020, 1, 1)  # no guess was kept before
_LAST_DAY = date(2200, 1, 1)
_NOTHING: Mapping[int, int] = MappingProxyType({})

Why = Literal["large", "no list", "another version"]


class UnreadableError(ValueError):
    """A text is no list of guesses; `why` says in a word what is wrong, for a sentence in the reader's language."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True)
class Read:
    """Guesses that were read, and how many entries were left out because they are none."""

    guesses: dict[int, Kept]
    left_out: int


def written(guesses: Guesses) -> str:
    """Write guesses as a text, "" for none."""
    entries = {
        str(number): {"guess": kept.guess, "right": kept.right, "on": kept.on.isoformat(), "box": kept.box}
        for number, kept in sorted(guesses.items())
    }
    return json.dumps({"version": VERSION, "guesses": entries}) if entries else ""


def read(text: str, *, known: Collection[int], today: date, of_merged: Mapping[int, int] = _NOTHING) -> Read:
    """Read guesses from a stranger's text; "" holds none. Raises UnreadableError for a text that is no list of guesses.

    Only known fields are taken. An entry that is no guess, or of a question that there is not, is left out and counted.
    known: the numbers of all questions. of_merged: those of questions that went into another. A guess of a day to come,
    as of a clock that was wrong, counts as today's.
    """
    if not text:
        return Read({}, 0)
    if len(text) > MOST_BYTES or len(text.encode(errors="replace")) > MOST_BYTES:
        raise UnreadableError("large")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError("no list") from error
    match found:
        case {"version": int(version)} if not isinstance(version, bool) and version != VERSION:
            raise UnreadableError("another version")
        case {"version": int(version), "guesses": dict(entries)} if not isinstance(version, bool):
            pass
        case _:
            raise UnreadableError("no list")
    guesses: dict[int, Kept] = {}
    left_out = 0
    for key, entry in entries.items():
        kept = _kept(entry, today)
        number = int(key) if re.fullmatch(r"[1-9][0-9]{0,5}", key) else 0
        number = of_merged.get(number, number)
        if kept is None or number not in known:
            left_out += 1
        else:
            guesses = merged(guesses, {number: kept})
    return Read(guesses, left_out)


def day(text: object) -> date | None:
    """Read a day as it is kept and as a browser tells it, "2026-01-31"; None for what is no day from 2020 to 2199."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if _FIRST_DAY <= found < _LAST_DAY else None


def _kept(entry: object, today: date) -> Kept | None:
    match entry:
        case {"guess": str(guess), "right": bool(right), "on": on, "box": int(box)} if not isinstance(box, bool):
            when = day(on)
            for known in GUESSES:
                if known == guess and when is not None and 1 <= box <= len(DAYS):
                    return Kept(known, right, min(when, today), box)
    return None
