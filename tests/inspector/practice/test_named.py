"""The checker held to files that somebody wrote who had not read it: wrong ones are named, right ones are not blamed.

225 wrong files in wrong/, each with its mistake in the writer's words in its first line, and 115 right ones in right/.
named.tsv has the checker's sentence for each, put beside the writer's words by hand; no other file knows their names.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.practice.index import TASKS
from inspector.practice.judging import check
from inspector.practice.record.task import Task
from tests.inspector.practice import in_process

pytestmark = pytest.mark.heavy
HERE = Path(__file__).parent
ROWS = [line.split("\t") for line in (HERE / "named.tsv").read_text(encoding="utf-8").splitlines()[1:]]
DUE = dict(ROWS)
every_task = pytest.mark.parametrize("task", TASKS, ids=[task.id for task in TASKS])


def files(kind: str, task: Task) -> list[Path]:
    found = sorted((HERE / kind / task.id.replace("-", "_")).glob("*.py"))
    assert len(found) >= (5 if kind == "right" else 8)
    return found


@every_task
def test_a_mistake_is_named_or_among_those_that_give_the_same(task: Task) -> None:
    for file in files("wrong", task):
        verdict = in_process.verdict(file, task)
        assert not verdict.right, file
        assert DUE[f"{file.parent.name}/{file.stem}"] in verdict.mistakes, (file, verdict.said)


@every_task
def test_a_right_file_is_not_blamed(task: Task) -> None:
    for file in files("right", task):
        verdict = in_process.verdict(file, task)
        assert verdict.right, (file, verdict.said)
        assert verdict.said == (), file


def test_every_wrong_file_has_its_row() -> None:
    assert sorted(DUE) == sorted(f"{file.parent.name}/{file.stem}" for file in (HERE / "wrong").glob("*/*.py"))


@pytest.mark.parametrize("name", ["bpe/overlapping_merged", "flops/gated_ffn", "sinusoidal/halves"])
def test_a_process_of_its_own_says_the_same(name: str) -> None:
    (task,) = (task for task in TASKS if task.id == name.partition("/")[0])
    verdict = check(task, HERE / "wrong" / f"{name}.py")
    assert DUE[name] in verdict.mistakes
