"""Files of answers become a table: judged anew, a damaged file beside good ones, and practice files only when asked."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.lessons import Answers, read, shipped
from inspector.lessons import answers as files
from inspector.lessons.__main__ import main
from inspector.lessons.collecting import collect
from inspector.practice import texts
from inspector.practice.index import find

LESSON = """
title = "Heads"
[[steps]]
words = "Look."
[[steps]]
question = 3
verdict = "false"
[[steps]]
words = "How many?"
expected = 768
tolerance = 0
[[steps]]
practice = 1
[[steps]]
question = 1
"""
RIGHT = {2: "false", 3: 768.0, 4: texts.solution(find(1))}


def handed_in(folder: Path, name: str, given: dict[int, Any], *, student: str, lesson: str = LESSON) -> Path:
    about = read(lesson)
    path = folder / name
    path.write_text(files.written(Answers(about.digest, about.title.en, student, given), {}), encoding="utf-8")
    return path


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    path = tmp_path / "heads.toml"
    path.write_text(LESSON, encoding="utf-8")
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_class_becomes_a_table_and_damaged_files_are_told(
    tmp_path: Path, lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handed_in(tmp_path, "li.json", RIGHT, student="Li")
    handed_in(tmp_path, "li-again.json", RIGHT | {3: 700.0}, student="Li")
    handed_in(tmp_path, "none.json", {}, student="")
    handed_in(tmp_path, "other.json", {1: "true"}, student="Wu", lesson=LESSON.replace("768", "769"))
    (tmp_path / "cut.json").write_bytes(b'{"version": 1, "lesson"')
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.json").write_bytes(b" " * (files.MOST_BYTES + 1))
    (tmp_path / "folder.json").mkdir()
    table = tmp_path / "table.csv"
    names = [str(path) for path in sorted(tmp_path.glob("*.json"))] + [str(tmp_path / "gone.json")]
    assert main(["collect", *names, "--lesson", str(lesson), "--csv", str(table)]) == 1
    printed = capsys.readouterr()
    told = printed.err.splitlines()
    assert [line.split(" was")[0] for line in told[:-1]] == [
        *("bytes.json", "cut.json", "folder.json", "large.json", "other.json", "gone.json")
    ]
    assert "to the lesson “Heads”" in told[4]
    assert "--lesson" in told[4]
    assert "only --judge runs" in told[-1]
    found = rows(table)
    assert [row["file"] for row in found] == ["li-again.json", "li.json", "none.json"]
    assert [row["student"] for row in found] == ["Li", "Li", "(no name)"]
    assert [row["right of 4"] for row in found] == ["1", "2", "0"]
    assert found[0]["2 question 3"] == "right: false"
    assert found[0]["3 number"] == "wrong: 700 (768 ± 0)"
    assert found[1]["4 practice 1"].startswith("not judged: ")
    assert found[2]["3 number"] == "–"
    assert "Heads" in printed.out
    assert "wrong: 700 (768 ± 0)" in printed.out


def test_what_a_file_says_of_being_right_is_judged_anew(tmp_path: Path) -> None:
    path = handed_in(tmp_path, "li.json", {2: "true", 3: 1.0}, student="Li")
    told = json.loads(path.read_text(encoding="utf-8"))
    for entry in told["answers"].values():
        entry |= {"right": True, "by": "768 ± 900"}
    path.write_text(json.dumps(told), encoding="utf-8")
    (table,) = collect([path], [read(LESSON)]).tables
    assert table.rows[0].right == 0


def test_cells_are_no_formula_and_no_escape_of_a_terminal(
    tmp_path: Path, lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = handed_in(tmp_path, "=x.json", {2: "=1+1"}, student="=HYPERLINK(1)\x1b[31m\u200b")
    table = tmp_path / "table.csv"
    assert main(["collect", str(path), "--lesson", str(lesson), "--csv", str(table)]) == 0
    (row,) = rows(table)
    assert row["student"] == "'=HYPERLINK(1)[31mU+200B"
    assert row["file"] == "'=x.json"
    assert "\x1b" not in capsys.readouterr().out


def test_lessons_that_come_along_are_known_by_themselves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [
        handed_in(tmp_path, f"{name}.json", {}, student="Li", lesson=shipped(name).source)
        for name in ("evening", "findings")
    ]
    assert main(["collect", *map(str, paths)]) == 0
    assert capsys.readouterr().out.count("1 file\n") == 2
    assert main(["collect", *map(str, paths), "--csv", str(tmp_path / "t.csv")]) == 2
    assert "name one with --lesson" in capsys.readouterr().err
    assert not (tmp_path / "t.csv").exists()


@pytest.mark.heavy
def test_judge_runs_practice_files_and_measures_questions(
    tmp_path: Path, lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handed_in(tmp_path, "a.json", RIGHT | {5: "true"}, student="A")
    handed_in(tmp_path, "b.json", {4: "def softmax(scores):\n    return scores", 5: "false"}, student="B")
    handed_in(tmp_path, "c.json", {4: "raise SystemExit(3)"}, student="C")
    names = [str(path) for path in sorted(tmp_path.glob("*.json"))]
    table = tmp_path / "table.csv"
    assert main(["collect", *names, "--lesson", str(lesson), "--csv", str(table), "--judge"]) == 0
    assert "against accidents and not against malice" in capsys.readouterr().err
    found = rows(table)
    assert [row["4 practice 1"].split(":")[0] for row in found] == ["right", "wrong", "wrong"]
    assert [row["5 question 1"].split(":")[0] for row in found] == ["right", "wrong", "–"]
    assert [row["right of 4"] for row in found] == ["4", "0", "0"]


@pytest.mark.heavy
def test_a_lesson_loads_no_model_that_does_not_come_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import models

    monkeypatch.setattr(models, "load", None)
    lesson = read('title = "T"\n[[steps]]\nquestion = 3\nmodel = "org/name"')
    path = tmp_path / "a.json"
    path.write_text(files.written(Answers(lesson.digest, "T", "A", {1: "false"}), {}), encoding="utf-8")
    (table,) = collect([path], [lesson], runs=True).tables
    assert table.rows[0].cells == ("not judged: false",)


@pytest.mark.heavy
def test_reading_and_collecting_needs_no_torch(tmp_path: Path) -> None:
    path = handed_in(tmp_path, "a.json", {}, student="A", lesson=shipped("evening").source)
    code = (
        "import sys; from inspector.lessons.__main__ import main; "
        f"assert main(['collect', {str(path)!r}]) == 0; assert main(['check', 'evening']) == 0; "
        "sys.exit(str({'torch', 'transformers', 'streamlit'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=False, text=True)
    assert done.stderr.strip() == "set()"


# --- the other commands -----------------------------------------------------------------------------------------------


def test_a_lesson_goes_from_a_file_into_a_link(
    tmp_path: Path, lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from inspector.lessons.links import decode

    assert main(["link", str(lesson), "--address", "https://class.example/"]) == 0
    address = capsys.readouterr().out.strip()
    assert address.startswith("https://class.example/lessons?lesson=z.")
    assert decode(address.partition("=")[2]) == LESSON
    assert main(["link", "evening"]) == 0
    assert capsys.readouterr().out == "http://localhost:8501/lessons?lesson=evening\n"
    assert main(["show", "evening"]) == 0
    assert read(capsys.readouterr().out) == shipped("evening")
    assert main([]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_check_names_models_that_do_not_come_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "l.toml"
    path.write_text(
        LESSON.replace('[[steps]]\nwords = "Look."', '[[steps]]\nwords = "Look."\npage = "scores"\nmodel = "org/x"')
    )
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Heads: 5 steps, 4 to answer (")
    assert printed.err.startswith("org/x does not come with Headlight.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "gone.toml"], "There is no file “gone.toml”; the lessons that come along are evening,"),
        (["collect", "gone.json"], "None of 1 file holds answers"),
        (["collect", "gone.json", "--lesson", "gone.toml"], "There is no file “gone.toml”"),
        (["collect"], "--help lists the options"),
        (["colect"], "--help lists the options"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
