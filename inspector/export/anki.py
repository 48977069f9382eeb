r"""Answers as cards to learn by heart: an Anki package, and a table.

```python
answers = list(questions.ask_all(questions.Subject(loaded, text)))
Path("questions.apkg").write_bytes(anki.package(answers, language="en"))
```

The front asks, and says what people say; the back has the verdict, the parts with their numbers, the formula and the
cause. A note is known by the question's number and the language, so that a later package updates it in place.
"""

from __future__ import annotations

import html
import tempfile
from collections.abc import Sequence
from pathlib import Path

import genanki
import pandas as pd

from inspector.export import spreadsheet
from inspector.export.questions_sheet import PAGE, WORDS, verdict_of
from inspector.questions import written
from inspector.questions.asking import Answer
from inspector.questions.filled import filled
from inspector.questions.index import THEMES
from inspector.questions.record.both import Language

# Drawn once: Anki knows a deck and a kind of note by these.
_DECKS: dict[Language, int] = {"en": 1_741_386_071, "zh": 1_741_386_072}
_NOTES = 1_741_386_073
_FRONT = """<p>{{Question}}</p><p class="said">{{Claim}}</p>"""
_BACK = """{{FrontSide}}<hr id="answer"><p class="verdict">{{Verdict}}</p>{{Answer}}"""
_STYLE = """
.card { font: 18px/1.5 sans-serif; text-align: left; max-width: 42em; margin: 1em auto; }
.said { font-style: italic; } .verdict { font-weight: bold; } .small { font-size: 14px; opacity: .75; }
"""
_MODEL = genanki.Model(
    _NOTES,
    "Headlight question",
    fields=[{"name": name} for name in ("Number", "Question", "Claim", "Verdict", "Answer")],
    templates=[{"name": "Card", "qfmt": _FRONT, "afmt": _BACK}],
    css=_STYLE,
)


def package(answers: Sequence[Answer], language: Language) -> bytes:
    """Write answers as an Anki package: a deck, a note each, tagged by theme and by what can change the numbers."""
    deck = genanki.Deck(_DECKS[language], f"Headlight · {WORDS[language].TITLE}")
    for answer in answers:
        deck.add_note(_note(answer, language))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions.apkg"
        genanki.Package(deck).write_to_file(str(file))
        return file.read_bytes()


def csv(answers: Sequence[Answer], language: Language) -> bytes:
    """Write answers as a table, a row each: `inspector.questions.written.table`, and the cause."""
    causes = pd.Series([answer.question.because.of(language) for answer in answers], dtype=object)
    return spreadsheet.csv(written.table(answers, language).assign(because=causes))


def _note(answer: Answer, language: Language) -> genanki.Note:
    question, page = answer.question, PAGE[language]
    said = f"{page.SAID} {question.claim.of(language)}"
    return genanki.Note(
        model=_MODEL,
        fields=[
            str(question.number),
            html.escape(page.heading(question.number, question.asked.of(language))),
            html.escape(said),
            html.escape(verdict_of(answer, language)),
            _back(answer, language),
        ],
        sort_field=f"{question.number:03}",
        tags=["headlight", _theme(question.number), question.scope],
        guid=genanki.guid_for("headlight", question.number, language),
    )


def _back(answer: Answer, language: Language) -> str:
    question, words = answer.question, WORDS[language]
    lines = []
    if answer.stands_in:
        lines.append(_line(words.measured_on(answer.measured_on, answer.text), "small"))
    if answer.problem is not None:
        lines.append(_line(answer.problem.of(language)))
    for part, holds in zip(question.parts, answer.held, strict=False):
        lines.append(_line(f"{'✓' if holds else '✗'} {part.statement.of(language)}"))
    if answer.numbers:
        lines.append(_line(written.sentence(answer.numbers, question.numbers, language), "small"))
    if question.formula and answer.numbers:
        lines.append(_line(rf"\[{filled(question.formula, answer.numbers)}\]"))  # Anki draws it by MathJax
    lines.append(_line(question.because.of(language)))
    lines += [_line(f"{paper.cited}: {paper.title}. {paper.url}", "small") for paper in question.papers]
    return "".join(lines)


def _line(text: str, kind: str = "") -> str:
    return f"<p{f' class={kind!r}' if kind else ''}>{html.escape(text)}</p>"


def _theme(number: int) -> str:
    return next(theme.id for theme in THEMES if any(question.number == number for question in theme.questions))
