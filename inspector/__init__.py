"""The instrument: record a model on a text, then read every layer and head."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspector import (
        beams,
        costs,
        decoding_costs,
        flow,
        generating,
        heads,
        importance,
        interventions,
        lens,
        maps,
        normalization,
        plots,
        positional,
    )
    from inspector.notebook import show
    from inspector.probe import record, record_batch
    from inspector.trace import AttentionSite, Trace
    from inspector.trace_file import open

__all__ = [
    "AttentionSite",
    "Trace",
    "beams",
    "costs",
    "decoding_costs",
    "flow",
    "generating",
    "heads",
    "importance",
    "interventions",
    "lens",
    "maps",
    "normalization",
    "open",
    "plots",
    "positional",
    "record",
    "record_batch",
    "show",
]

_HOMES = {
    "record": "inspector.probe",
    "record_batch": "inspector.probe",
    "AttentionSite": "inspector.trace",
    "Trace": "inspector.trace",
    "open": "inspector.trace_file",
    "show": "inspector.notebook",
}


def __getattr__(name: str) -> Any:
    """Import on first use: torch and transformers take seconds, and the page draws its shell before."""
    if name not in __all__:
        raise AttributeError(f"module 'inspector' has no attribute {name!r}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    return importlib.import_module(f"inspector.{name}")
