"""Makes one table of many students' answers, each judged anew by the lesson: a file's own word is never taken.

```python
collected = collect([Path("li.json"), Path("wang.json")], [shipped("evening")])
collected.tables[0].rows[0].right  # how many of Li's answers are right
collected.problems  # a sentence for each file that is none, or of another lesson
```

A practice file is run only where `runs` is True, in the process that `inspector.practice` has for it, on the machine of
whoever collects. That process guards against accidents and not against malice.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from inspector.lessons import answers as files
from inspector.lessons.answers import Answers
from inspector.lessons.judging import Answer, Judged, judge
from inspector.lessons.lesson import Asked, Code, Guess, Lesson
from inspector.questions.record.question import Verdict
from inspector.text import visible
from inspector.wording import lesson_collect as words
from models import cards
from models.formatting import shortened


@dataclass(frozen=True)
class Row:
    """A student's answers. cells: a sentence for each step that asks something, in the lesson's order.

    right, unjudged: how many answers are right, and how many nothing judged.
    """

    student: str
    file: str
    cells: tuple[str, ...]
    right: int
    unjudged: int = 0


@dataclass(frozen=True)
class Table:
    """Answers to one lesson, a row a file."""

    lesson: Lesson
    rows: tuple[Row, ...]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns: student, file, a column a step that asks something, and the total."""
        steps = (words.column(at, _kind(step.asks)) for at, step in self.lesson.asking.items())
        return (words.STUDENT, words.FILE, *steps, words.total(len(self.lesson.asking)))

    @property
    def lines(self) -> list[tuple[object, ...]]:
        """The rows as texts, with the total as a number."""
        return [(row.student, row.file, *row.cells, row.right) for row in self.rows]


@dataclass(frozen=True)
class Collected:
    """Tables, one for each lesson that has answers, and a sentence for each file that is in none."""

    tables: tuple[Table, ...] = ()
    problems: tuple[str, ...] = field(default=())


Measure = Callable[[Guess], Verdict | None]


def collect(paths: Sequence[Path], lessons: Sequence[Lesson], *, runs: bool = False) -> Collected:
    """Read and judge files of answers to one of the lessons; a file that is none is a sentence, and others go on.

    runs: run each practice file on this machine, and measure questions whose verdict the lesson does not give.
    """
    known = {lesson.digest: lesson for lesson in lessons}
    measure: Measure = cache(measured) if runs else lambda guess: None
    rows: dict[str, list[Row]] = {}
    problems = []
    for path in paths:
        name = visible(shortened(path.name, 60))
        try:
            found = _read(path)
        except ValueError as error:
            problems.append(words.not_read(name, str(error)))
            continue
        lesson = known.get(found.lesson)
        if lesson is None:
            problems.append(words.another_lesson(name, visible(found.title), found.lesson, list(known)))
            continue
        rows.setdefault(lesson.digest, []).append(_row(name, found, lesson, measure, runs=runs))
    tables = (Table(known[digest], tuple(listed)) for digest, listed in rows.items())
    return Collected(tuple(tables), tuple(problems))


def measured(guess: Guess) -> Verdict | None:
    """Measure a question on the model and the text of its step; None where that gives no verdict.

    Only models that come along are loaded: a lesson's file names what it likes.
    """
    if guess.model.partition("?")[0] not in cards.names():
        return None
    import models
    from inspector import questions  # torch comes with it

    return questions.ask(guess.question, models.load(guess.model), guess.text).verdict


def _read(path: Path) -> Answers:
    try:
        if path.stat().st_size > files.MOST_BYTES:
            raise ValueError(words.UNREADABLE["large"])
        return files.read(path.read_text(encoding="utf-8")).answers
    except OSError as error:
        raise ValueError(words.NO_FILE) from error
    except files.UnreadableError as error:
        raise ValueError(words.UNREADABLE[error.why]) from error
    except UnicodeDecodeError as error:
        raise ValueError(words.UNREADABLE["no answers"]) from error


def _row(file: str, found: Answers, lesson: Lesson, measure: Measure, *, runs: bool) -> Row:
    cells, rights = [], []
    for at, step in lesson.asking.items():
        answer = found.given.get(at)
        if answer is None:
            cells.append(words.NO_ANSWER)
            continue
        judged = _judged(step.asks, answer, measure, runs=runs)
        cells.append(words.cell(judged.right, _told(step.asks, answer), judged.by))
        rights.append(judged.right)
    return Row(visible(found.student) or words.NO_NAME, file, tuple(cells), rights.count(True), rights.count(None))


def _judged(asked: Asked | None, answer: Answer, measure: Measure, *, runs: bool) -> Judged:
    if isinstance(asked, Guess) and asked.verdict is None:
        return judge(asked, answer, verdict=measure(asked))
    if isinstance(asked, Code) and isinstance(answer, str) and runs:
        return _run(asked.task, answer)
    return judge(asked, answer)


def _run(task: int, source: str) -> Judged:
    """Run a student's file in a process of its own, and judge what its function gives."""
    from inspector import practice

    with tempfile.TemporaryDirectory(prefix="lesson-") as folder:
        path = Path(folder) / "answer.py"
        path.write_text(source, encoding="utf-8")
        verdict = practice.check(practice.find(task), path)
    return Judged(verdict.right, "" if verdict.right else verdict.said[0])


def _kind(asked: Asked | None) -> str:
    match asked:
        case Guess(question):
            return words.question(question)
        case Code(task):
            return words.practice(task)
    return words.NUMBER


def _told(asked: Asked | None, answer: Answer) -> str:
    """Write an answer for the table; a file by its length."""
    if isinstance(answer, float):
        return f"{answer:.10g}"
    return words.lines(answer.count("\n") + 1) if isinstance(asked, Code) else visible(shortened(answer, 20))
