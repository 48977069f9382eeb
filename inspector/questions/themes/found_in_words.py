"""Findings about words: syntax, reference, alignment. Questions 133 to 137."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("found_in_words", Both("Found in words", "词语的发现"), ())
