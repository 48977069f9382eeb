"""Masks: padding, the future, and texts of several lengths. Questions 67 to 73."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("masks", Both("Masks", "掩码"), ())
