"""Each token left out in turn: the section of the page Scores' subject that stands here, beside the other changes."""

from __future__ import annotations

from inspector.sections import registry
from inspector.trace import Trace
from inspector.views import sections
from inspector.views.shell import session
from models import LoadedModel

PARAMETERS = ("left_at", "layer", "call", "head")  # that no widget holds


def explorer(trace: Trace, loaded: LoadedModel) -> None:
    """Draw everything below the choice of a change."""
    sections.host(registry.section("scores/importance"), session.subject(trace, loaded))
