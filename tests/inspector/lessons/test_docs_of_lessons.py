"""The page docs/lessons.md: its lesson is one, its table names every field, its commands run as written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from inspector import lessons
from inspector.lessons import Answers, read
from inspector.lessons import answers as files
from inspector.lessons.__main__ import main
from inspector.lessons.reading import MOST_BYTES, MOST_STEPS
from inspector.wording import lesson_file as words

TOLD = (Path(__file__).parents[3] / "docs" / "lessons.md").read_text(encoding="utf-8")
(LESSON,) = re.findall(r"```toml\n(.*?)```", TOLD, re.DOTALL)


def test_the_lesson_of_the_page_is_one() -> None:
    lesson = read(LESSON)
    assert [type(step.asks).__name__ for step in lesson.steps] == ["NoneType", "Guess", "Number", "Code"]


def test_the_table_names_every_field_and_no_other() -> None:
    rows = re.findall(r"^\| (`.*?) \|", TOLD, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)", row)]
    assert {*named, "steps"} == {*words.KNOWN[False], *words.KNOWN[True]}
    assert f"at most {MOST_BYTES // 1024} KB and {MOST_STEPS} steps" in TOLD


def test_the_commands_run_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers").mkdir()
    for line in re.findall(r"^python -m inspector\.lessons (.*)$", TOLD, re.MULTILINE):
        command, _, target = line.partition(" > ")
        arguments = [
            path
            for word in shlex.split(command)
            for path in ([*map(str, Path().glob(word))] if "*" in word else [word])
        ]
        assert main(arguments) == 0
        printed = capsys.readouterr().out
        if target:
            lesson = read(printed)
            Path(target).write_text(printed, encoding="utf-8")
            given = files.written(Answers(lesson.digest, lesson.title.en, "Li", {2: "false"}), {})
            (tmp_path / "answers" / "li.json").write_text(given, encoding="utf-8")
    assert "Li" in printed
    assert (tmp_path / "table.csv").read_text(encoding="utf-8").count("\n") == 2


def test_the_example_of_the_door_runs_as_written() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", lessons.__doc__ or "", re.DOTALL)
    *lines, last = code.strip().splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    assert eval(last, names) == [False, *[None] * 7]
