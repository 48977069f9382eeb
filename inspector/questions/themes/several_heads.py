"""Several heads: what they are for and what they cost. Questions 41 to 50."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("several_heads", Both("Several heads", "多头"), ())
