"""Findings about heads that people quote. Questions 114 to 125 and 142."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("found_in_heads", Both("Found in heads", "头的发现"), ())
