"""The first questions: what attention is, what Q, K and V are, and what came before. Questions 1 to 15."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("basics", Both("What attention is", "注意力是什么"), ())
