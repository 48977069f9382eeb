"""Sections of the page Scores' subject that stand here, beside the other changes: each host knows its own."""

from __future__ import annotations

from collections.abc import Callable

from inspector.sections import registry
from inspector.sections.section import Need
from inspector.trace import Trace
from inspector.views import sections
from inspector.views.shell import session
from models import LoadedModel

LEAVE_OUT, TWO_TEXTS, SCISSORS = "scores/importance", "scores/two_texts", "scores/scissors"
PARAMETERS = {
    LEAVE_OUT: ("left_at", "layer", "call", "head"),
    TWO_TEXTS: ("layer", "call", "head"),
    SCISSORS: ("writer", "reader", "cuts"),
}
"""The parameters of each section that no widget holds."""


def need(path: str) -> Need | None:
    """Return what a model must be able to do for a section."""
    return registry.section(path).need


def explorer(path: str) -> Callable[[Trace, LoadedModel], None]:
    """Return what draws a section below the choice of a change."""

    def draw(trace: Trace, loaded: LoadedModel) -> None:
        sections.host(registry.section(path), session.subject(trace, loaded))

    return draw
