"""Given tokens read step by step, once for a model and a text: what several sections of the page Time start from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector import stepwise
from inspector.sections import names
from inspector.wording import time as words

if TYPE_CHECKING:
    import models
    from inspector.sections.subject import Subject

MOST = 128  # tokens
WORK = 2e11  # weights times tokens: a quarter of a minute or so on one core


def room(subject: Subject) -> int:
    """Count the tokens of the text that are read step by step at most, fewer with a large model."""
    weights = sum(parameter.numel() for parameter in subject.model.network.parameters())
    most = MOST
    while most > 2 and weights * most * (most + 5) / 2 > WORK:
        most -= 1
    return min(most, len(subject.trace.read_by("decoder")))


def forced(subject: Subject, *, tokens: int) -> stepwise.ForcedReading:
    """Read the first tokens in one pass and step by step, once; ValueError in a sentence where that fails."""

    def make() -> stepwise.ForcedReading:
        loaded = subject.model
        doing = words.forcing.READING
        with told(loaded, doing), subject.progress(doing, unit="step") as on_progress:
            return stepwise.compare(
                loaded, subject.trace, tokens=tokens, watch=lambda done: on_progress(done, 3 * tokens)
            )

    return subject.of_text(("forced", tokens), make)


def reads(subject: Subject, *, tokens: int) -> tuple[stepwise.LayerReads, ...]:
    """Watch the reads of a cached run, once; ValueError in a sentence where that fails."""

    def make() -> tuple[stepwise.LayerReads, ...]:
        with told(subject.model, words.past.WATCHING):
            return stepwise.reads(subject.model, subject.trace, tokens=tokens)

    return subject.of_text(("reads", tokens), make)


def code(subject: Subject) -> str:
    """Write the Python lines after which `loaded`, `trace` and `stepwise` are there."""
    return f"{subject.code}from inspector import stepwise\n\n"


@contextmanager
def told(loaded: models.LoadedModel, doing: str) -> Iterator[None]:
    """Raise whatever fails in the block as a ValueError in a sentence that names the model as the page does."""
    with names.told(doing, instead=words.CHOOSE, loaded=loaded):
        yield
