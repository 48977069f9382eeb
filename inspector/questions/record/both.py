"""A text in English and in Chinese, and a refusal in both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True)
class Both:
    """A text in both languages: plain, or LaTeX where a field says so, and never Markdown."""

    en: str
    zh: str

    def of(self, language: Language) -> str:
        """Return the text in one language."""
        return self.en if language == "en" else self.zh


class UnanswerableError(ValueError):
    """A model or a text cannot answer a question; `why` says so in a sentence in both languages.

    Raised by a measure: `raise UnanswerableError("The text has one token.", "这段文本只有一个 token。")`.
    """

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.why = Both(en, zh)
