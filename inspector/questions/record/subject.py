"""The subject of a question: a reader's model and text, and what all questions measure of them once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from inspector import examples
from inspector.questions.record.both import UnanswerableError
from models.registry import is_installed

if TYPE_CHECKING:
    import pandas as pd

    import models
    from inspector.questions.record.kinds import Kind
    from inspector.trace import Trace

V = TypeVar("V")
MOST_TOKENS = 128  # a question reads no more of a text, so that it is answered in two seconds


def _load(model: str) -> models.LoadedModel:
    import models

    return models.load(model)


class ValueCache:
    """A cache of values that are made once: `cached = ValueCache(); cached(key, make)`."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}

    def __call__(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return `make()`, or what it gave before for the same key."""
        if key not in self._values:
            self._values[key] = make()
        return cast("V", self._values[key])


@dataclass(frozen=True)
class Subject:
    """A model and a text, of which a question reads MOST_TOKENS tokens at most, the first.

    load: gives a bundled model by its id. cached: holds what several questions need; a page passes the cache of its
    session. at_hand: whether a bundled model can be loaded here.
    """

    loaded: models.LoadedModel
    text: str
    load: Callable[[str], models.LoadedModel] = _load
    cached: Callable[[Hashable, Callable[[], Any]], Any] = field(default_factory=ValueCache)
    at_hand: Callable[[str], bool] = is_installed

    @cached_property
    def trace(self) -> Trace:
        """The recording of the text in the model. Raises UnanswerableError for a model without softmax attention."""
        from inspector.probe import TextLimits, record

        limits = TextLimits(tokens=min(MOST_TOKENS, self.loaded.max_tokens))
        trace = self.once("trace", lambda: record(self.loaded, self.text, limits=limits))
        if not trace.sites:
            raise UnanswerableError(
                "This model mixes tokens without softmax attention, of which the question is.",
                "这个模型不用 softmax 注意力混合 token，而这个问题问的正是它。",
            )
        return trace

    @property
    def heads(self) -> pd.DataFrame:
        """The measures of every head, a row each: `inspector.heads.measure`."""
        from inspector import heads

        return self.once("heads", lambda: heads.measure(self.trace))

    def once(self, name: str, make: Callable[[], V]) -> V:
        """Return `make()`, made once for this model and text, whichever question asks. name: what is made."""
        return cast("V", self.cached((self.loaded.card.id, self.text, name), make))

    def within(self, kind: Kind) -> Subject:
        """Return the subject itself where its model is of the kind, else its text in the model that stands in.

        A stand-in that did not learn the text's script reads its own example.
        """
        return self if kind.can(self.loaded) else self.of(kind.stand_in(self.at_hand))

    def of(self, model: str) -> Subject:
        """Return the same text in a bundled model, or that model's own example where it does not read the script."""
        text = self.text if examples.reads(model, self.text) else examples.of(model)
        return self if model == self.loaded.card.id else replace(self, loaded=self.load(model), text=text)
