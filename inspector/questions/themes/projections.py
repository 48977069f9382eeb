"""Queries, keys and values: what each projection is for, and what happens without. Questions 26 to 33."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("projections", Both("Q, K and V", "Q、K、V"), ())
