"""Words of the frame in the reader's language, which a host tells: they are looked up anew whenever they are asked for.

```python
from inspector.wording.reader import shell as words  # the same names as in inspector/wording/english/shell.py

words.INSPECT  # "Inspect", or "检视" for a reader of Chinese
```

A page's own words are in English alone and come from `inspector.wording`; what is kept for all visitors must not hold
words of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from inspector.wording import LANGUAGE, in_language

if TYPE_CHECKING:
    from inspector.wording.english import exactness as exactness
    from inspector.wording.english import pages as pages
    from inspector.wording.english import practice as practice
    from inspector.wording.english import practice_verdict as practice_verdict
    from inspector.wording.english import queue as queue
    from inspector.wording.english import shell as shell
    from inspector.wording.english import switches as switches

FRAME = ("exactness", "pages", "practice", "practice_verdict", "queue", "shell", "switches")
"""Files of words that are there in every language."""


class _Words:
    """A file of words, whose names are those of the reader's language at that moment."""

    def __init__(self, file: str) -> None:
        self.file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(in_language(_language(), self.file), name)


_FILES = {file: _Words(file) for file in FRAME}
_language: Callable[[], str] = lambda: LANGUAGE  # noqa: E731


def told_by(language: Callable[[], str]) -> None:
    """Let a host tell its reader's language, "en" or "zh", at every word; without a host words are in English."""
    global _language
    _language = language


@contextmanager
def spoken(language: str) -> Iterator[None]:
    """Say all in a language for a while, for a command or a notebook; then the host tells it again."""
    global _language
    told, _language = _language, lambda: language
    try:
        yield
    finally:
        _language = told


def __getattr__(name: str) -> _Words:
    """Return a file of words."""
    if name not in _FILES:
        raise AttributeError(f"the frame has no words {name!r}")
    return _FILES[name]
