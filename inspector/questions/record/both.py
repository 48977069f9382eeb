"""A text in English and in Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True)
class Both:
    """The same text in both languages, plain text or, where a field says so, LaTeX; never Markdown."""

    en: str
    zh: str

    def of(self, language: Language) -> str:
        """Return the text in one language."""
        return self.en if language == "en" else self.zh
