"""Training: warm-up, dropout, variants and initial vectors. Questions 108 and 111 to 113."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("learning", Both("Training", "训练"), ())
