"""Answers as a table, and as records of plain values: for notebooks, for JSON, and to compare two runs.

```python
from inspector import questions

answers = list(questions.ask_all(questions.Subject(loaded, text), only=[16, 35]))
questions.table(answers, language="zh")
```
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspector.plain import document, number
from inspector.questions.asking import Answer
from inspector.questions.filled import shown
from inspector.questions.record.both import Both, Language
from inspector.questions.record.checks import Numbers
from inspector.questions.record.question import ClaimPart, Label, Question
from inspector.questions.record.reasons import reason

if TYPE_CHECKING:
    import pandas as pd

NO_VERDICT = "none"  # stands for the verdict of a question that could not be asked, where verdicts are compared


def table(answers: Iterable[Answer], language: Language = "en") -> pd.DataFrame:
    """Make a table of answers, a row each: questions and names of numbers in a language, the verdict as in Answer."""
    import pandas as pd

    columns = ["number", "question", "verdict", "numbers", "measured_on", "problem"]
    rows = [
        (
            answer.question.number,
            answer.question.asked.of(language),
            answer.verdict,
            sentence(answer.numbers, answer.question.numbers, language),
            answer.measured_on,
            answer.problem.of(language) if answer.problem else "",
        )
        for answer in answers
    ]
    return pd.DataFrame(rows, columns=columns)


def sentence(numbers: Numbers, labels: Mapping[str, Label], language: Language) -> str:
    """Write measured numbers in a row, each after its name: "largest weight: 0.91; heads: 12"."""
    colon, semicolon = (": ", "; ") if language == "en" else ("：", "；")
    named = {name: labels.get(name, Label(Both(name, name))) for name in numbers}
    return semicolon.join(
        f"{label.name.of(language)}{colon}{shown(numbers[name], label, language)}" for name, label in named.items()
    )


def answered(answers: Iterable[Answer], language: Language = "en") -> dict[str, Any]:
    """Return answers as one document for programs, see `record` and inspector/plain."""
    return document("answers", answers=[record(answer, language) for answer in answers])


def listed(questions: Iterable[Question], language: Language = "en") -> dict[str, Any]:
    """Return questions as one document: the number, what is asked, and what people say."""
    asked = [
        {"number": question.number, "question": question.asked.of(language), "claim": question.claim.of(language)}
        for question in questions
    ]
    return document("questions", questions=asked)


def record(answer: Answer, language: Language = "en") -> dict[str, Any]:
    """Give an answer, without its figure, as values for JSON, as `inspector.plain` writes them."""
    question = answer.question
    return {
        "number": question.number,
        "question": question.asked.of(language),
        "said": question.claim.of(language),
        "verdict": answer.verdict,
        "scope": question.scope,
        "parts": parts(question.parts, answer.numbers, language),
        "numbers": {name: number(value) for name, value in answer.numbers.items()},
        "asked_of": answer.asked_of,
        "measured_on": answer.measured_on,
        "text": answer.text,
        "problem": answer.problem.of(language) if answer.problem else "",
    }


def parts(claimed: Sequence[ClaimPart], numbers: Numbers, language: Language) -> list[dict[str, Any]]:
    """List the parts of a claim: the statement, whether it holds, and each check with its bound, why, and value."""
    return [
        {
            "said": part.statement.of(language),
            "role": part.role,
            "holds": part.holds(numbers) if numbers else None,
            "checks": [
                {
                    "number": check.number,
                    "needs": check.needs,
                    "why": reason(check).of(language),
                    "value": number(numbers.get(check.number, math.nan)),
                }
                for check in part.checks
            ],
        }
        for part in claimed
    ]


def changes(answers: Iterable[Answer], expected: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """Tell which verdicts and parts differ from an earlier run; expected: the earlier run's records, by number."""
    sentences = []
    for answer in answers:
        now, before = record(answer), expected.get(answer.question.number)
        if before is None:
            continue
        if now["verdict"] != before["verdict"]:
            was, became = (state["verdict"] or NO_VERDICT for state in (before, now))
            why = f" ({answer.problem.en})" if answer.problem else ""
            sentences.append(f"question {answer.question.number}: was {was}, is {became}{why}")
            continue
        held = [[part["holds"] for part in state["parts"]] for state in (before, now)]
        if held[0] != held[1]:
            wrong = [str(row + 1) for row, (was, became) in enumerate(zip(*held, strict=False)) if was != became]
            if len(held[0]) != len(held[1]):
                wrong = ["the number of parts"]
            sentences.append(
                f"question {answer.question.number}: of the same verdict, other parts hold: {', '.join(wrong)}"
            )
    return sentences
