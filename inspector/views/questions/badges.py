"""Verdicts as badges: words and an icon, never a colour alone."""

from __future__ import annotations

from types import ModuleType
from typing import Literal

from inspector.questions.record.question import Question, Verdict

Colour = Literal["green", "red", "orange", "gray"]
LOOKS: dict[str, tuple[str, Colour]] = {
    "true": (":material/check_circle:", "green"),
    "false": (":material/cancel:", "red"),
    "partly": (":material/contrast:", "orange"),
    "conditions": (":material/alt_route:", "orange"),
    "failed": (":material/error:", "gray"),
}


def words_of(question: Question, verdict: Verdict, words: ModuleType) -> str:
    """Word a verdict: "here" only where a loaded model took part."""
    said: str = (words.ALWAYS if question.of is None else words.HERE)[verdict]
    return said


def sign(question: Question, judged: str | None, words: ModuleType) -> tuple[str, str]:
    """Return a verdict's icon and words for a row of the list; judged: None while the question was not measured."""
    if judged is None:
        return ":material/circle:", ""
    said = words.UNMEASURED if judged == "failed" else words_of(question, judged, words)  # type: ignore[arg-type]
    return LOOKS[judged][0], said
