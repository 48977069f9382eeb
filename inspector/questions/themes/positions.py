"""Positions: how order comes into attention. Questions 74 to 82."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("positions", Both("Positions", "位置编码"), ())
