"""BERT and its tokens. Questions 103 to 107, 109 and 110."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("bert", Both("BERT and tokens", "BERT 与 token"), ())
