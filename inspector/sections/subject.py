"""The subject of a section: a recorded text with its model, or sizes alone; and the lines that make it again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from inspector.wording import pages as words
from models.registry import is_installed

if TYPE_CHECKING:
    import pandas as pd

    import models
    from inspector.atlas import Atlas
    from inspector.overview import Overview
    from inspector.trace import Trace

V = TypeVar("V")
OnProgress = Callable[[float, int], None]


def recorded(trace: Trace) -> str:
    """Write the Python lines after which `loaded` is the model and `trace` the recording, with its pair or target."""
    if trace.given:
        return f"import inspector\n\ntrace = {recording(trace)}"
    return (
        "import inspector, models\n\n"
        f"loaded = models.load({trace.model!r})\n"
        f"trace = inspector.record(loaded, {given(trace)})"
    )


def recording(trace: Trace) -> str:
    """Write the expression that records a text, or that takes weights which were given."""
    if trace.given:
        more = ", key_tokens=key_tokens" * ("cross" in trace.streams)
        return f"inspector.from_attention(weights, tokens{more})"
    return f"inspector.record(models.load({trace.model!r}), {given(trace)})"


def given(trace: Trace) -> str:
    """Write the text of a recording, and its pair or target, as arguments of inspector.record."""
    more = {"text_pair": trace.text_pair, "target": trace.target_text}
    return repr(trace.text) + "".join(f", {name}={text!r}" for name, text in more.items() if text is not None)


class Results(dict[Hashable, Any]):
    """Results by key, for as long as a subject lives: a host with a cache of its own gives that one instead."""

    def __call__(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return `make()`, or what it gave before for the same key."""
        if key not in self:
            self[key] = make()
        result: V = self[key]
        return result


class Progress(Protocol):
    """A work's words, and the unit that is counted -> a context that takes (done, total)."""

    def __call__(self, doing: str, /, *, unit: str = "layer") -> AbstractContextManager[OnProgress]:
        """Open the context."""


@contextmanager
def silent(doing: str, *, unit: str = "layer") -> Iterator[OnProgress]:
    """Take no notice of how far a work is."""
    yield lambda done, total: None


def load(model: str) -> models.LoadedModel:
    """Load a model by its id."""
    import models

    return models.load(model)


@dataclass(frozen=True)
class Configuration:
    """A model's configuration and the length of a text: all that counting needs, with weights or without.

    title: as a sentence names it. config: of transformers, or a TransformerConfig. key: tells configurations apart.
    code: the Python lines that make `config`. tokens, target_tokens: of the text; target_tokens None without a target.
    """

    title: str
    config: Any
    key: Hashable
    code: str
    tokens: int
    target_tokens: int | None = None

    @classmethod
    def of_shape(cls, name: str, *, tokens: int) -> Configuration:
        """Read a shape of `inspector.costs.SHELF`, such as "llama-2-70b"."""
        from inspector.costs import SHELF  # transformers, which takes seconds

        shape = SHELF[name]
        code = f"config = inspector.costs.SHELF[{name!r}].config()"
        return cls(shape.title, shape.config(), ("shape", name), code, tokens)

    @property
    def lengths(self) -> tuple[int, int]:
        """The tokens of the text, and of a target, which is as long where none is given."""
        return self.tokens, self.tokens if self.target_tokens is None else self.target_tokens


@dataclass(frozen=True, eq=False)
class Subject:
    """A recorded text, the model that read it, and the stream that is looked at; or a configuration that is `given`.

    recording: None where sizes alone are given. loaded: None where the model of a saved trace is not at hand. version:
    tells models of one id apart. cache: (key, make) -> what make gives, made once for the key. progress: words -> a
    context that takes (done, total). narrow: the host has the width of a phone. measured: key -> what the reader had
    measured, None where nothing was. load: gives another model by its id. at_hand: whether a model of the list can be
    loaded here. beside: the same text in a model that is set beside this one, None where none is. stacked: the host's
    columns stand below each other. opened: an atlas of the model, None for the first at hand. keys: of atlases in no
    list, which the reader holds; None where nothing is hidden.
    """

    recording: Trace | None
    loaded: models.LoadedModel | None = None
    stream: str = ""
    version: Hashable = 0
    cache: Callable[[Hashable, Callable[[], Any]], Any] = field(default_factory=Results)
    progress: Progress = silent
    narrow: bool = False
    given: Configuration | None = None
    measured: Callable[[Hashable], Any] = lambda key: None
    load: Callable[[str], models.LoadedModel] = load
    at_hand: Callable[[str], bool] = is_installed
    beside: Subject | None = None
    stacked: bool = False
    opened: Atlas | None = None
    keys: Collection[str] | None = ()

    @property
    def trace(self) -> Trace:
        """The recorded text; ValueError where there is none."""
        if self.recording is None:
            raise ValueError("This section speaks of a recorded text: give it a trace.")
        return self.recording

    @property
    def model(self) -> models.LoadedModel:
        """The model; ValueError where there is none."""
        if self.loaded is None and self.trace.given:
            raise ValueError(words.ONLY_GIVEN)
        if self.loaded is None:
            raise ValueError(
                f"This section needs the model {self.trace.model}: give it as loaded=models.load({self.trace.model!r})."
            )
        return self.loaded

    @property
    def atlas(self) -> Atlas:
        """The atlas that is opened, or the first of the model that everyone sees; ValueError where there is none."""
        if self.opened is not None:
            return self.opened
        from inspector.atlas import library

        atlases = library.of(self.model, keys=self.keys).atlases
        if not atlases:
            raise ValueError(f"There is no atlas of {self.trace.model}: build one with inspector.atlas.build.")
        return atlases[0]

    @property
    def configuration(self) -> Configuration:
        """The configuration that is given, else that of the model, at the length of its text."""
        if self.given is not None:
            return self.given
        target = self.trace.target
        return Configuration(
            self.model.card.title,
            self.model.config,
            (self.trace.model, self.version),
            f"config = models.load({self.trace.model!r}).config",
            len(self.trace.tokens),
            None if target is None else len(target),
        )

    @property
    def tokens(self) -> Sequence[str]:
        """The tokens whose states the stream holds."""
        return self.trace.read_by(self.stream).tokens

    @property
    def overview(self) -> Overview:
        """The measures, self-checks and small pictures of every head of all streams."""
        from inspector import overview
        from inspector.components.grid import sides

        trace = self.trace
        return self.of_text("overview", lambda: overview.measure(trace, sides=sides(trace.sites)))

    @property
    def measures(self) -> pd.DataFrame:
        """The measures of every head of all streams, a row each."""
        return self.overview.measures

    @property
    def first_head(self) -> tuple[int, int]:
        """The layer and the head of the stream to open first."""
        from inspector.overview import first_head

        return self.once("first head", lambda: first_head(self.overview, self.trace, stream=self.stream))

    @property
    def code(self) -> str:
        """The Python lines that load the model and record the text."""
        return f"{recorded(self.trace)}\n"

    def first_at_hand(self, ids: Sequence[str]) -> str:
        """Return the first of the models that can be loaded here."""
        return next(id for id in ids if self.at_hand(id))

    def with_model(self, model: str) -> Subject:
        """Return the same recording beside another model, for what reads its tokens anew."""
        return replace(self, loaded=self.load(model))

    def in_model(self, model: str, text: str) -> Subject:
        """Return a text that another model reads, recorded once."""
        from inspector import probe

        loaded = self.load(model)
        trace = self.of_all(("recorded", model, text), lambda: probe.record(loaded, text))
        return replace(self, recording=trace, loaded=loaded, stream=trace.streams[0])

    def once(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return `make()`, made once for this recording, stream and key."""
        result: V = self.cache((self.trace.key, self.stream, key), make)
        return result

    def of_text(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return `make()`, made once for this recording and key, whatever the stream."""
        result: V = self.cache((self.trace.key, key), make)
        return result

    def of_model(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return `make()`, made once for this model and key, whatever the text."""
        result: V = self.cache((self.trace.model, self.version, key), make)
        return result

    def of_all(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return `make()`, made once for the key, whatever the model and the text."""
        result: V = self.cache(key, make)
        return result
