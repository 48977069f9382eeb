"""Given tokens read step by step, once for a model and a text, with a bar and a Stop where that is long."""

from __future__ import annotations

import streamlit as st

from inspector import stepwise
from inspector.trace import Trace
from inspector.views.server import queue
from inspector.views.shell import available_models, progress, session
from models import LoadedModel, failures

WRITERS = ("mini-gpt", "translator")  # in place of a model that does not write, the best first
CANNOT = "reads a text at once and writes nothing step by step"
MOST = 128  # tokens
_WORK = 2e11  # weights times tokens: a quarter of a minute or so on one core


def room(loaded: LoadedModel, trace: Trace) -> int:
    """Count the tokens of the text that are read step by step at most, fewer with a large model."""
    weights = sum(parameter.numel() for parameter in loaded.network.parameters())
    most = MOST
    while most > 2 and weights * most * (most + 5) / 2 > _WORK:
        most -= 1
    return min(most, len(trace.read_by("decoder")))


def forced(loaded: LoadedModel, trace: Trace, *, tokens: int) -> stepwise.Forced:
    """Read the first tokens in one pass and step by step, once; ValueError in a sentence where that fails."""
    place = st.empty()
    bar = progress.Bar(place, at_once=False, stop="stop forcing")

    def seen(done: int) -> None:
        bar.draw(done, 3 * tokens, f"{done} steps read, with the cache and without")

    def make() -> stepwise.Forced:
        told = failures.told("Reading the text step by step", instead="Choose another model.")
        with told, queue.turn("Reading step by step"):
            return stepwise.compare(loaded, trace, tokens=tokens, watch=seen)

    found = session.cached(("forced", _version(loaded), trace.key, tokens), make)
    place.empty()
    return found


def reads(loaded: LoadedModel, trace: Trace, *, tokens: int) -> tuple[stepwise.Reads, ...]:
    """Watch the reads of a cached run, once; ValueError in a sentence where that fails."""

    def make() -> tuple[stepwise.Reads, ...]:
        with failures.told("Watching the steps", instead="Choose another model."):
            return stepwise.reads(loaded, trace, tokens=tokens)

    return session.cached(("reads", _version(loaded), trace.key, tokens), make)


def _version(loaded: LoadedModel) -> tuple[str, str]:
    return loaded.card.id, available_models.version(loaded.card.id)


def python(loaded: LoadedModel, trace: Trace) -> str:
    """Write the lines after which `loaded`, `trace` and `stepwise` are there."""
    target = "" if trace.target_text is None else f", target={trace.target_text!r}"
    pair = "" if trace.text_pair is None else f", text_pair={trace.text_pair!r}"
    return (
        "import inspector, models\nfrom inspector import stepwise\n\n"
        f"loaded = models.load({loaded.card.id!r})\n"
        f"trace = inspector.record(loaded, {trace.text!r}{pair}{target})\n"
    )
