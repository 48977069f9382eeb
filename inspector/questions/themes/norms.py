"""Norms: LayerNorm and BatchNorm. Questions 51 to 66."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("norms", Both("LayerNorm and BatchNorm", "LayerNorm 与 BatchNorm"), ())
