"""The reader's model and text, and what was measured of them: each answer once for all visitors.

```python
reader = Reader.now()
reader.settled(16)  # None until it was measured
reader.answer(question)
```
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any, Literal

import streamlit as st

from inspector.questions import asking
from inspector.questions.asking import Answer
from inspector.questions.record.kinds import ANY
from inspector.questions.record.question import Question, Verdict
from inspector.questions.record.subject import Subject
from inspector.views.server import queue
from inspector.views.shell import available_models, caching, loaded_models, session

Settled = Verdict | Literal["failed"]
KEPT = 20  # models and texts of which a visitor's verdicts are kept


@dataclass(frozen=True)
class Reader:
    """A model and a text. at_hand: False for the model of a saved trace that cannot be loaded; another one is asked."""

    model: str
    text: str
    at_hand: bool = True

    @classmethod
    def now(cls) -> Reader:
        """Read what the reader chose; ValueError where a saved trace cannot be opened."""
        text, model = session.chosen_text(), session.chosen_model()
        if model is None:
            return cls(session.chosen().trace.model, text, at_hand=False)
        return cls(model, text)

    @property
    def name(self) -> str:
        """The model's name in a sentence, in the reader's language."""
        return available_models.name_in_frame(self.model)

    def settled(self, number: int) -> tuple[Settled, bool] | None:
        """Return a question's verdict, and whether another model gave it; None where it was not asked yet."""
        return self._verdicts().get(number)

    def answer(self, question: Question, words: ModuleType) -> Answer:
        """Ask a question, or give what was measured before; words: of the page, for the visitors' queue."""
        if self.settled(question.number) is None and question.measure is not None:
            with queue.turn(f"Question {question.number}", words=words.queued):
                found = self._answer(question)
        else:
            found = self._answer(question)
        judged: Settled = "failed" if found.verdict is None else found.verdict
        self._verdicts()[question.number] = judged, found.stands_in
        return found

    def subject(self, question: Question) -> Subject:
        """Make what a question is asked of; ValueError where the model cannot be loaded."""
        model = self.model if self.at_hand else (question.of or ANY).stand_in(loaded_models.is_at_hand)
        cached = partial(_kept, self._key())
        return Subject(session.load(model), self.text, session.load, cached, loaded_models.is_at_hand)

    def _answer(self, question: Question) -> Answer:
        def make() -> Answer:
            found = asking.ask(question, self.subject(question))
            return found if self.at_hand else replace(found, asked_of=self.model)

        return caching.cached(("answer", question.number, *self._key()), make)

    def _key(self) -> tuple[Hashable, ...]:
        return self.model, loaded_models.version(self.model), self.text, self.at_hand

    def _verdicts(self) -> dict[int, tuple[Settled, bool]]:
        every: dict[Hashable, dict[int, tuple[Settled, bool]]]
        every = st.session_state.setdefault("questions.settled", {})
        verdicts = every.setdefault(self._key(), {})
        for oldest in list(every)[:-KEPT]:
            del every[oldest]
        return verdicts


def guesses() -> dict[int, str]:
    """Return the reader's guesses of this visit, by the number of the question."""
    found: dict[int, str] = st.session_state.setdefault("questions.guesses", {})
    return found


def _kept(reader: Hashable, key: Hashable, make: Callable[[], Any]) -> Any:
    """Share what several questions need, for as long as the cache holds it."""
    return caching.cached(("questions", reader, key), make)
