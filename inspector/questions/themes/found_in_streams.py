"""Findings about what flows between layers. Questions 126 to 132 and 138 to 141."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("found_in_streams", Both("Found between layers", "层间的发现"), ())
