"""Reads a lesson from the text of a TOML file, which is a stranger's: sizes first, then each field by its name.

```python
lesson = read('title = "Two words"\n[[steps]]\nwords = "Whom does it read?"\nexpected = 2\ntolerance = 0')
lesson.steps[0].asks  # Number(NumberCheck("found", "±", 2.0, within=0.0), ...)
```

A field that is not known is refused, for what it asks would be lost. Nothing that a lesson names is loaded or fetched.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from typing import Any, get_args

from inspector import examples
from inspector.lessons.lesson import FOUND, NOTHING, Asked, Code, Guess, Lesson, Number, Place, Step
from inspector.practice.index import TASKS
from inspector.questions.index import BY_NUMBER, MERGED
from inspector.questions.path import plain
from inspector.questions.record.both import Both
from inspector.questions.record.checks import around, near
from inspector.questions.record.question import Verdict
from inspector.sections.registry import PAGES
from inspector.wording import lesson_file as words
from models.cards import MINILM

MOST_BYTES = 32 * 1024
MOST_STEPS = 60
MOST_TITLE, MOST_WORDS = 120, 4_000  # characters
MOST_TEXT = 1_000  # characters of a text to read: as many as a link holds
MOST_NAME = 200  # characters of a model's name, of a unit and of a value of a link
MOST_PARAMETERS = 12
MOST_WHOLE = 10**9  # of a value of a link
ATTENTION = "attention"
"""The name of the first page, whose address is empty."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


def read(text: str) -> Lesson:
    """Read a lesson; ValueError, with the place in the file, the value and the way out, for a text that is none."""
    if len(text) > MOST_BYTES or len(text.encode(errors="replace")) > MOST_BYTES:
        raise ValueError(words.too_large(MOST_BYTES))
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(words.no_toml("" if isinstance(error, RecursionError) else str(error))) from error
    file = _Table(found)
    title, about = file.both("title", MOST_TITLE, needed=True), file.both("about", MOST_WORDS)
    model, given_text = file.line("model", MOST_NAME), file.line("text", MOST_TEXT)
    feedback = file.take("feedback", True, bool)
    tables = file.take("steps", [], list)
    file.close()
    if not 1 <= len(tables) <= MOST_STEPS:
        raise ValueError(words.steps(len(tables), MOST_STEPS))
    steps = []
    for at, table in enumerate(tables, 1):
        if not isinstance(table, dict):
            raise ValueError(words.field(words.step(at), "steps", table, needs=words.A_TABLE))
        steps.append(_step(_Table(table, at), model, given_text))
    return Lesson(title, tuple(steps), about, feedback, text)


def _step(table: _Table, model: str, text: str) -> Step:
    """Read a step. model, text: those of the lesson, for a step without its own."""
    model, text = table.line("model", MOST_NAME) or model, table.line("text", MOST_TEXT) or text
    said, why = table.both("words", MOST_WORDS), table.both("why", MOST_WORDS)
    place = _place(table, model, text)
    kinds = [name for name in ("question", "practice", "expected") if name in table.left]
    if len(kinds) > 1:
        raise ValueError(words.several(table.where, kinds))
    asks: Asked | None = None
    match kinds:
        case ["question"]:
            asks = _guess(table, model, text)
        case ["practice"]:
            asks = Code(table.choice("practice", [task.number for task in TASKS]))
        case ["expected"]:
            asks = _number(table)
    table.close()
    if not said.en and not isinstance(asks, Guess | Code):
        raise ValueError(words.missing(table.where, "words"))
    return Step(said, place, asks, why)


def _place(table: _Table, model: str, text: str) -> Place | None:
    if "page" not in table.left:
        if "link" in table.left:
            raise ValueError(words.missing(table.where, "page"))
        return None
    page = table.choice("page", [address or ATTENTION for address in PAGES])
    given = table.take("link", {}, dict)
    if len(given) > MOST_PARAMETERS:
        raise ValueError(words.parameters(table.where, len(given), MOST_PARAMETERS))
    link = {}
    for name, value in given.items():
        if not re.fullmatch(r"[a-z][a-z_]{0,39}", name) or name in ("lang", "model", "text"):
            raise ValueError(words.field(table.where, "link", name, needs=words.PARAMETER))
        if not isinstance(value, str | int) or (isinstance(value, int) and abs(value) > MOST_WHOLE):
            raise ValueError(words.field(table.where, name, value, needs=words.VALUE))
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        if len(shown) > MOST_NAME or plain(shown) != shown:
            raise ValueError(words.field(table.where, name, value, needs=words.VALUE))
        link[name] = shown
    return Place("" if page == ATTENTION else page, link, model, text)


def _guess(table: _Table, model: str, text: str) -> Guess:
    asked = table.choice("question", [*BY_NUMBER, *MERGED], shown=words.questions(max(BY_NUMBER)))
    verdict = table.choice("verdict", VERDICTS) if "verdict" in table.left else None
    model = model or MINILM.id
    return Guess(MERGED.get(asked, asked), model, text or examples.of_link(model), verdict)


def _number(table: _Table) -> Number:
    """Read what is expected, with its tolerance: a number in the same unit, or a share as "2 %"."""
    expected = table.finite("expected", table.left.pop("expected"))
    if "tolerance" not in table.left:
        raise ValueError(words.missing(table.where, "tolerance"))
    tolerance = table.left.pop("tolerance")
    share = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%", tolerance) if isinstance(tolerance, str) else None
    unit = table.both("unit", MOST_NAME)
    if share is None:
        within = table.finite("tolerance", tolerance, needs=words.TOLERANCE)
        if within < 0:
            raise ValueError(words.field(table.where, "tolerance", tolerance, needs=words.TOLERANCE))
        return Number(around(FOUND, expected, within=within), unit)
    within = float(share[1]) / 100
    if expected == 0:
        raise ValueError(words.field(table.where, "tolerance", tolerance, needs=words.NO_SHARE_OF_ZERO))
    return Number(near(FOUND, expected, within=within), unit)


class _Table:
    """A table of the file, from which fields are taken one by one; what is left at its end is not known."""

    def __init__(self, fields: Mapping[str, Any], at: int | None = None) -> None:
        """Open a table. at: the number of the step that it is, None for the file's own fields."""
        self.left = dict(fields)
        self.known: list[str] = []
        self.where = "" if at is None else words.step(at)

    def take(self, name: str, default: Any, kind: type) -> Any:
        """Take a field of a kind; the default where it is not there."""
        self.known.append(name)
        value = self.left.pop(name, default)
        if not isinstance(value, kind):
            raise ValueError(words.field(self.where, name, value, needs=words.KINDS[kind]))
        return value

    def line(self, name: str, most: int) -> str:
        """Take a text of `most` characters at most, "" where it is not there."""
        return self._text(name, self.take(name, "", str), most)

    def both(self, name: str, most: int, *, needed: bool = False) -> Both:
        """Take a text, for readers of both languages or as a table with one for each: { en = "...", zh = "..." }."""
        self.known.append(name)
        value = self.left.pop(name, None)
        match value:
            case None:
                both = NOTHING
            case str():
                both = Both(*[self._text(name, value, most)] * 2)
            case {"en": str(en), "zh": str(zh), **rest} if not rest:
                both = Both(self._text(name, en, most), self._text(name, zh, most))
            case _:
                raise ValueError(words.field(self.where, name, value, needs=words.IN_BOTH))
        if needed and not (both.en and both.zh):
            raise ValueError(words.missing(self.where, name))
        return both

    def choice(self, name: str, options: Any, *, shown: str = "") -> Any:
        """Take a field that is one of the options. shown: names them in a sentence where they are many."""
        self.known.append(name)
        value = self.left.pop(name)
        if isinstance(value, bool | float) or not isinstance(value, str | int) or value not in options:
            raise ValueError(words.field(self.where, name, value, needs=words.one_of(shown or options)))
        return value

    def finite(self, name: str, value: Any, *, needs: str = words.A_NUMBER) -> float:
        """Return a finite number."""
        self.known.append(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
            raise ValueError(words.field(self.where, name, value, needs=needs))
        if math.isnan(value):
            raise ValueError(words.field(self.where, name, value, needs=needs))
        return float(value)

    def close(self) -> None:
        """Refuse what was not taken."""
        if self.left:
            raise ValueError(words.unknown(self.where, next(iter(self.left)), words.KNOWN[bool(self.where)]))

    def _text(self, name: str, value: str, most: int) -> str:
        if len(value) > most:
            raise ValueError(words.too_long(self.where, name, len(value), most))
        return plain(value)
