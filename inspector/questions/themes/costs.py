"""Costs: what attention costs, and what the FFN costs. Questions 92 to 95."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("costs", Both("Costs", "开销"), ())
