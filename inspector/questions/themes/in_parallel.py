"""Parallel and serial work, and the KV cache. Questions 96 to 102."""

from __future__ import annotations

from inspector.questions.record.both import Both
from inspector.questions.record.question import Theme

THEME = Theme("in_parallel", Both("In parallel, and the KV cache", "并行与 KV 缓存"), ())
