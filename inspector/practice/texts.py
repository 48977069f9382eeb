"""Tasks as texts: the file to begin with, the solution, and plain values of all that is asked."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspector.plain import document as plain_document
from inspector.practice.record.task import Task
from inspector.questions.record.both import Language

SOLUTIONS = Path(__file__).with_name("solutions")


def solution(task: Task) -> str:
    """Return the project's own file for a task."""
    return (SOLUTIONS / f"{task.id.replace('-', '_')}.py").read_text(encoding="utf-8")


def stub(task: Task) -> str:
    """Return a file to begin with: the solution's imports, its signature and what it returns, and no body."""
    source = solution(task)
    lines = source.splitlines()
    (defined,) = (part for part in ast.parse(source).body if isinstance(part, ast.FunctionDef))
    said = defined.body[0]
    assert said.end_lineno is not None, "a solution's function has a docstring"
    return "\n".join([*lines[: said.end_lineno], "    raise NotImplementedError", ""])


def document(tasks: Sequence[Task], language: Language) -> dict[str, Any]:
    """Return tasks as a document."""
    return plain_document(
        "practice_tasks",
        tasks=[
            {
                "number": task.number,
                "id": task.id,
                "level": task.level,
                "title": task.title.of(language),
                "call": task.signature,
                "asked": task.asked.of(language),
            }
            for task in tasks
        ],
    )
