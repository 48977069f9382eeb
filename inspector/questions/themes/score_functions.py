"""Score functions: dot product and additive attention. Questions 34 to 40."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("score_functions", Both("Dot product or additive", "点积还是加性"), ())
