"""Drawing: numbers in, a plotly figure or pixels out. Nothing here runs a model or knows of the page."""

from __future__ import annotations

import importlib
from types import ModuleType

_FIGURES = (
    "attention",
    "beams",
    "comparison",
    "costs",
    "generation",
    "masking",
    "normalization",
    "packing",
    "positions",
    "raster",
    "standalone",
    "theme",
    "training",
)


def __getattr__(name: str) -> ModuleType:
    """Import on first use: `inspector.plots.costs` needs no Pillow, `inspector.plots.raster` no plotly."""
    if name not in _FIGURES:
        raise AttributeError(f"module 'inspector.plots' has no attribute {name!r}")
    return importlib.import_module(f"inspector.plots.{name}")
