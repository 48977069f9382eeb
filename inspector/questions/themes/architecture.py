"""Architecture: blocks, residuals, FFN and shared weights. Questions 83 to 91."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("architecture", Both("Architecture", "结构"), ())
